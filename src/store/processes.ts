import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Knex } from 'knex';
import type { Database } from './database.js';
import { bound } from './nano.js';

/** A process that has the store open, as its row in `processes` says. */
export interface Process {
  id: string;
  /** Where a process number means something: one boot of one machine, and there one namespace. */
  place: string;
  pid: number;
  started_ms: number;
}

interface ProcessRow {
  id: string;
  place: string;
  pid: bigint;
  seen_ms: bigint;
}

/** A process that has not been seen for this long is taken to be gone, wherever it ran. */
const LEASE_MS = 60_000;

/** The stores that this very process has open: others with our number are our former lives. */
const ours = new Set<string>();

export function enter(now: () => number, id: string = randomUUID()): Process {
  ours.add(id);
  return { id, place: thisPlace(), pid: process.pid, started_ms: now() };
}

export function leave(self: Process): void {
  ours.delete(self.id);
}

/** Makes sure that the process is known, so that what it leaves behind is not taken for lost. */
export async function register(
  trx: Knex.Transaction,
  { id, place, pid, started_ms }: Process,
  now_ms: number,
): Promise<void> {
  await trx('processes')
    .insert({ id, place, pid, started_ms, seen_ms: now_ms })
    .onConflict('id')
    .ignore();
}

/**
 * Ends the holds of the processes that are gone, and answers how many those were. Beside another
 * one that recovers, or a process that turns out to live, each hold is ended at most once.
 */
export async function recover(
  database: Database,
  self: Process,
  now: () => number,
): Promise<number> {
  const rows = await database.read<ProcessRow[]>((knex) => knex('processes').orderBy('id'));
  const gone = rows.filter((row) => isGone(row, self, now()));
  let released = 0;
  for (const row of gone) released += await database.write((trx) => bury(trx, row));
  return released;
}

/** What the processes that were seen of late have told, in no order. */
export async function notes(database: Database, now_ms: number): Promise<string[]> {
  const rows = await database.read<{ note: string }[]>((knex) =>
    knex('processes')
      .where('seen_ms', '>=', now_ms - LEASE_MS)
      .whereNotNull('note')
      .select('note'),
  );
  return rows.map(({ note }) => note);
}

function isGone(row: ProcessRow, self: Process, now_ms: number): boolean {
  if (ours.has(row.id)) return false;
  if (now_ms - Number(row.seen_ms) > LEASE_MS) return true;
  if (row.place !== self.place) return false;
  return Number(row.pid) === self.pid || !exists(Number(row.pid));
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Nothing is done if another has buried it already, or if it has given a sign of life since. */
async function bury(trx: Knex.Transaction, process_row: ProcessRow): Promise<number> {
  const id = process_row.id;
  const seen_ms = Number(process_row.seen_ms);
  const row: unknown = await trx('processes').where({ id, seen_ms }).forUpdate().first('id');
  if (!row) return 0;
  const holds: Hold[] = await trx('holds')
    .where({ process_id: id })
    .forUpdate()
    .select('account_id', 'key_id', 'amount_nano');
  await lower(trx, 'keys', sumsBy(holds, 'key_id'));
  await lower(trx, 'accounts', sumsBy(holds, 'account_id'));
  await trx('holds').where({ process_id: id }).delete();
  await trx('processes').where({ id }).delete();
  return holds.length;
}

interface Hold {
  account_id: string;
  key_id: string | null;
  amount_nano: bigint;
}

function sumsBy(holds: readonly Hold[], owner: 'account_id' | 'key_id'): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const hold of holds) {
    const id = hold[owner];
    if (id !== null) sums.set(id, (sums.get(id) ?? 0n) + hold.amount_nano);
  }
  return sums;
}

/** Row by row in the order of their IDs, so that two who do it do not lock each other out. */
async function lower(
  trx: Knex.Transaction,
  table: 'accounts' | 'keys',
  sums: ReadonlyMap<string, bigint>,
): Promise<void> {
  for (const [id, sum] of [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    await trx(table)
      .where({ id })
      .update({ held_nano: trx.raw('held_nano - ?', [bound(sum)]) });
  }
}

function thisPlace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
