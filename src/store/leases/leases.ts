import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { parseJson } from '../../lib/json-text.js';
import { validatorOfShipped } from '../../lib/schemas.js';
import type { BoxReport } from '../../schema-types/box-report.js';
import type { Database } from '../database.js';
import { isAlive, MACHINE, STARTED } from './liveness.js';
import { endInWindows } from '../limits/hold-windows.js';
import { toBinding } from '../column-values.js';

/** A process that has the store open: its row in `processes`. */
export interface Process {
  id: string;
  /** The machine of the process ID, and the start time of the process. */
  place: string;
  pid: number;
  started_ms: number;
}

interface ProcessRow {
  id: string;
  place: string;
  pid: bigint;
  started_ms: bigint;
  seen_ms: bigint;
  box?: string | null;
  /** By the clock of the database, which all processes share. */
  age_ms: bigint | string;
}

/** A process on another machine counts as dead after this time without a heartbeat. */
export const LEASE_MS = 60_000;

/**
 * The IDs of the stores that this process has open. Other rows with its PID are of earlier runs.
 */
const openIds = new Set<string>();

/** Names this process among those on the store, until `forgetProcess`. */
export function newProcess(now: () => number, id: string = randomUUID()): Process {
  openIds.add(id);
  return { id, place: `${MACHINE} ${STARTED}`.trim(), pid: process.pid, started_ms: now() };
}

export function forgetProcess(self: Process): void {
  openIds.delete(self.id);
}

/** Inserts the process row, so that no other process takes this one for dead. */
export async function register(
  trx: Knex.Transaction,
  { id, place, pid, started_ms }: Process,
  clock_ms: string,
): Promise<void> {
  await trx('processes')
    .insert({ id, place, pid, started_ms, seen_ms: trx.raw(clock_ms) })
    .onConflict('id')
    .ignore();
}

/**
 * Releases the holds of dead processes, and resolves with their number. Each hold is released at
 * most once, even if another process recovers at the same time, or a process proves to be alive.
 */
export async function recover(
  database: Database,
  self: Process,
  watch: Watch,
  elapsed_ms: number,
): Promise<number> {
  const rows = await database.read((knex) => processRows(knex, database));
  watch.look(rows, elapsed_ms);
  const dead = rows.filter((row) => isDead(row, self, watch, elapsed_ms));
  let released = 0;
  for (const row of dead) released += await database.write((trx) => removeDead(trx, row));
  return released;
}

async function processRows(knex: Knex, { clock_ms }: Database): Promise<ProcessRow[]> {
  // A store of an older version has no column for the box.
  const age = knex.raw(`${clock_ms} - seen_ms as age_ms`);
  return knex('processes').orderBy('id').select('*', age);
}

/** Whether a process may serve the store. */
export async function isServed(database: Database): Promise<boolean> {
  return (await liveProcesses(database)).length > 0;
}

/** A process that was seen within a lease and has not certainly ended. */
export interface LiveProcess {
  id: string;
  /** Its machine, which those of one box share. */
  machine: string;
  pid: number;
  started_ms: number;
  /** When it was last seen, and the time of this look, by the clock of the database. */
  seen_ms: number;
  now_ms: number;
  /** What it last said of itself; null where its version says nothing. */
  box: BoxReport | 'unknown' | null;
}

export async function liveProcesses(database: Database): Promise<LiveProcess[]> {
  return database.read((knex) => liveProcessesIn(knex, database));
}

/** The live processes whose version knows fewer migrations, or does not say how many. */
export async function olderProcesses(
  knex: Knex,
  database: Database,
  lowest: number,
): Promise<LiveProcess[]> {
  const live = await liveProcessesIn(knex, database);
  return live.filter(({ box }) => box === null || knownMigrations(box) < lowest);
}

/** A form of report that this version does not know is that of a later one. */
function knownMigrations(box: BoxReport | 'unknown'): number {
  return box === 'unknown' ? Infinity : (box.migrations ?? 0);
}

async function liveProcessesIn(knex: Knex, database: Database): Promise<LiveProcess[]> {
  const rows = await processRows(knex, database);
  const live = rows.filter((row) => !isOverdue(row) && hasEnded(row, process.pid) !== true);
  return live.map(({ id, place, pid, started_ms, seen_ms, age_ms, box }) => ({
    id,
    machine: machineOf(place),
    pid: Number(pid),
    started_ms: Number(started_ms),
    seen_ms: Number(seen_ms),
    now_ms: Number(seen_ms) + Number(age_ms),
    box: reportInRow(box ?? null),
  }));
}

function reportInRow(text: string | null): LiveProcess['box'] {
  if (text === null) return null;
  const report = parseJson(text);
  return validatorOfShipped('box-report', 'input')(report) ? (report as BoxReport) : 'unknown';
}

/** The place without the start time of the process, which is its last word on Linux. */
function machineOf(place: string): string {
  return place.replace(/ \d+$/u, '');
}

/** The holds and the keys of running calls that a process has in the store. */
export interface OwnRows {
  holds: { request_id: string; account_id: string }[];
  keys: { request_id: string; account_id: string; key_sha256: string }[];
}

/** Those of this process; of the holds, those older than a lease. */
export async function ownRows(database: Database, { id }: Process): Promise<OwnRows> {
  return database.read(async (knex) => ({
    holds: await knex('holds')
      .where({ process_id: id })
      .whereRaw(`created_ms < ${database.clock_ms} - ${LEASE_MS}`)
      .select('request_id', 'account_id'),
    keys: await knex('idempotency_keys')
      .where({ process_id: id })
      .select('request_id', 'account_id', 'key_sha256'),
  }));
}

/** The notes of the live processes, in no order. */
export async function liveNotes(database: Database): Promise<string[]> {
  const rows = await database.read<{ note: string }[]>((knex) =>
    knex('processes')
      .whereRaw(`seen_ms >= ${database.clock_ms} - ${LEASE_MS}`)
      .whereNotNull('note')
      .select('note'),
  );
  return rows.map(({ note }) => note);
}

function isDead(row: ProcessRow, self: Process, watch: Watch, elapsed_ms: number): boolean {
  return hasEnded(row, self.pid) ?? (isOverdue(row) && watch.isSilent(row.id, elapsed_ms));
}

/**
 * Undefined for a process of another machine. One on this machine is alive for as long as it
 * exists, even if it is paused.
 */
function hasEnded({ id, place, pid }: ProcessRow, own_pid: number): boolean | undefined {
  if (openIds.has(id)) return false;
  if (place !== MACHINE && !place.startsWith(`${MACHINE} `)) return undefined;
  return Number(pid) === own_pid || !isAlive(Number(pid), place.slice(MACHINE.length + 1));
}

function isOverdue({ age_ms }: ProcessRow): boolean {
  return Number(age_ms) > LEASE_MS;
}

/** Does nothing if another process removed the row already, or after a new heartbeat. */
async function removeDead(trx: Knex.Transaction, process_row: ProcessRow): Promise<number> {
  const id = process_row.id;
  const seen_ms = Number(process_row.seen_ms);
  const row: unknown = await trx('processes').where({ id, seen_ms }).forUpdate().first('id');
  if (!row) return 0;
  const holds: Hold[] = await trx('holds')
    .where({ process_id: id })
    .forUpdate()
    .select('account_id', 'key_id', 'amount_nano', 'windows');
  await lower(trx, 'keys', sumsBy(holds, 'key_id'));
  await endInWindows(
    trx,
    holds.map(({ amount_nano, windows }) => {
      return { windows, spent_nano: 0n, freed_nano: amount_nano };
    }),
  );
  await lower(trx, 'accounts', sumsBy(holds, 'account_id'));
  await trx('holds').where({ process_id: id }).delete();
  await trx('processes').where({ id }).delete();
  return holds.length;
}

interface Hold {
  account_id: string;
  key_id: string | null;
  amount_nano: bigint;
  windows: string | null;
}

function sumsBy(holds: readonly Hold[], owner: 'account_id' | 'key_id'): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const hold of holds) {
    const id = hold[owner];
    if (id !== null) sums.set(id, (sums.get(id) ?? 0n) + hold.amount_nano);
  }
  return sums;
}

/** Updates the rows in the order of their IDs, which excludes deadlocks. */
async function lower(
  trx: Knex.Transaction,
  table: 'accounts' | 'keys',
  sums: ReadonlyMap<string, bigint>,
): Promise<void> {
  for (const [id, sum] of [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    await trx(table)
      .where({ id })
      .update({ held_nano: trx.raw('held_nano - ?', [toBinding(sum)]) });
  }
}

/** The last heartbeat of a process. */
interface Seen {
  id: string;
  seen_ms: bigint;
}

/**
 * Watches the heartbeats of the other processes by the monotonic clock of this process. A process
 * is silent after a whole lease without a new heartbeat, during which this process looked
 * regularly. After an outage of the store, or a pause of this process, the lease begins anew,
 * because the others may have been unable to send heartbeats. Setting a clock makes no process
 * look dead.
 */
export class Watch {
  #last_ms: number | undefined;
  #since = new Map<string, { seen_ms: bigint; since_ms: number }>();

  constructor(private readonly lease_ms: number) {}

  /** To be called after this process has sent its own heartbeat. */
  look(all: readonly Seen[], elapsed_ms: number): void {
    const isGap = this.#last_ms === undefined || elapsed_ms - this.#last_ms > this.lease_ms / 2;
    const before = isGap ? undefined : this.#since;
    this.#last_ms = elapsed_ms;
    this.#since = new Map(
      all.map(({ id, seen_ms }) => {
        const known = before?.get(id);
        const isSame = known?.seen_ms === seen_ms;
        return [id, { seen_ms, since_ms: isSame ? known.since_ms : elapsed_ms }];
      }),
    );
  }

  isSilent(id: string, elapsed_ms: number): boolean {
    const known = this.#since.get(id);
    return known !== undefined && elapsed_ms - known.since_ms > this.lease_ms;
  }
}
