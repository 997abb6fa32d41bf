import { hash } from 'node:crypto';
import { isRecord } from '../../lib/objects.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import { isAlive, MACHINE, STARTED } from '../leases/liveness.js';
import type { Charge } from '../ledger/ledger-columns.js';

/** A charge on its way to the store, and the answer that the store keeps with it. */
export interface JournalEntry {
  charge: Charge;
  answered?: EndedCall;
}

const SUM_CHARACTERS = 16;
const MACHINE_SUM = hash('sha256', MACHINE).slice(0, SUM_CHARACTERS);
const NAME = /^(\d+)-(\d*)-([0-9a-f]{16})-[0-9a-f-]{36}\.journal$/u;

/** A file name that identifies the owning process. */
export function fileName(id: string): string {
  return `${process.pid}-${STARTED}-${MACHINE_SUM}-${id}.journal`;
}

/** Whether a running process of this machine owns the file. True also for other files. */
export function isOwned(name: string, openNames: ReadonlySet<string>): boolean {
  const [, pid, started = '', machine] = NAME.exec(name) ?? [];
  if (pid === undefined || openNames.has(name)) return true;
  return machine === MACHINE_SUM && Number(pid) !== process.pid && isAlive(Number(pid), started);
}

/** The line begins with a checksum, which reveals a line that was only partly written. */
export function lineOf({ charge, answered }: JournalEntry): Buffer {
  const json = JSON.stringify({ charge, answered }, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return Buffer.from(`${sumOf(json)} ${json}\n`);
}

export function linesIn(bytes: Buffer): { entries: JournalEntry[]; damaged: number } {
  const entries: JournalEntry[] = [];
  let damaged = 0;
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\n', at);
    // Zeros are reserved space after the last line.
    const line = bytes.subarray(at, end === -1 ? bytes.length : end).toString();
    const entry = entryOf(line.replace(/^\0+/u, ''));
    if (entry) entries.push(entry);
    else if (!/^\0*$/u.test(line)) damaged += 1;
    if (end === -1) break;
    at = end + 1;
  }
  return { entries, damaged };
}

function entryOf(line: string): JournalEntry | undefined {
  const json = line.slice(SUM_CHARACTERS + 1);
  if (line.slice(0, SUM_CHARACTERS) !== sumOf(json)) return undefined;
  const entry: unknown = JSON.parse(json, (key, value: unknown) =>
    key.endsWith('_nano') && typeof value === 'string' ? BigInt(value) : value,
  );
  if (!isRecord(entry) || !isRecord(entry.charge)) return undefined;
  if (isRecord(entry.answered)) entry.answered = withRequestHash(entry.answered);
  // The checksum proves that Tollgate wrote this line.
  return entry as unknown as JournalEntry;
}

/** An answer in a line of an older version, which called the hash of the request `asked_sha256`. */
function withRequestHash(answered: Record<string, unknown>): Record<string, unknown> {
  const { asked_sha256, ...others } = answered;
  return asked_sha256 === undefined ? answered : { ...others, request_sha256: asked_sha256 };
}

function sumOf(json: string): string {
  return hash('sha256', json).slice(0, SUM_CHARACTERS);
}
