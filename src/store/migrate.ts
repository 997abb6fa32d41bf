import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { pastPooler, placeOfStore, type StorePlace } from '../core/store-place.js';
import { contractFault, contractOf, raiseContract } from './contract.js';
import { openDatabase, sqliteFileOf, UNLIMITED, type Database } from './database.js';
import { olderProcesses, type LiveProcess } from './leases/leases.js';
import { takeSteps, takeStepsBesideCalls } from './migration-steps.js';
import { MIGRATIONS, type Migration } from './migrations.js';
import { codeOf } from './retry.js';
import { explainOpenError, StoreError, WaitEnded } from './store-error.js';

const TABLE = 'migrations';

/** An arbitrary number, the same in every Tollgate on one PostgreSQL. */
const ADVISORY_LOCK = 7_012_019;
/** How often a process looks whether another one has finished its migration. */
const LOOK_MS = 250;

/** The calls that queue behind a lock of a table wait no longer than this. */
const TABLE_LOCK_MS = 1_000;
/** Meanwhile they go on. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 3_000];
/** The lock of a table is tried so often: for ten minutes and more. */
const LOCK_TRIES = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Processes that are too old for a contract find out by their next heartbeat, drain and end. After
 * this time the store is contracted all the same.
 */
const DRAIN_MS = 5 * 60_000;

export interface MigrateOptions {
  /** Called with the names of those of an older store before they are applied. */
  onMigrating?: ((names: readonly string[]) => void) | undefined;
  /** Called once, if processes that a migration makes too old are waited for. */
  onOlder?: ((processes: readonly LiveProcess[]) => void) | undefined;
  /** Ends that wait: `WaitEnded` is thrown at once. */
  stopped?: Promise<unknown> | undefined;
  /** In place of all, as tests have it. */
  migrations?: readonly Migration[];
  lock_tries?: number;
  drain_ms?: number;
}

/** What a transaction of migrations came to. */
type Stage =
  | { is: 'applied'; names: string[] }
  /** Programs that are too old for the next migration may not serve the store from now on. */
  | { is: 'raised' }
  /** Some still do. */
  | { is: 'waiting'; older: LiveProcess[] };

/** Applies all pending migrations, and resolves with their names. Throws `StoreError`. */
export async function migrate(
  at: StorePlace | string,
  options: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  return explainOpenError(async () => {
    const database = openDatabase(pastPooler(placeOfStore(at)));
    try {
      return { applied: await applyMigrations(database, options) };
    } finally {
      await database.close();
    }
  });
}

/** The migrations that `migrate` would apply. Changes nothing, and makes no file. */
export async function pendingMigrations(at: StorePlace | string): Promise<readonly Migration[]> {
  const place = placeOfStore(at);
  const file = sqliteFileOf(place.url);
  if (file !== undefined && !existsSync(file)) return MIGRATIONS;
  return explainOpenError(async () => {
    const database = openDatabase(place);
    try {
      return await database.read(async (knex) => {
        await refuseNewer(knex, MIGRATIONS);
        return pendingOf(await appliedNames(knex), MIGRATIONS);
      });
    } finally {
      await database.close();
    }
  });
}

/** Applies the pending migrations past a pooler where the place names a way there. */
export async function migrateOpened(database: Database, options: MigrateOptions): Promise<void> {
  if (database.place.session_url === undefined) await applyMigrations(database, options);
  else await migrate(database.place, options);
}

/**
 * Applies the pending migrations, one process at a time, and resolves with their names. What a kill
 * leaves undone, the next process goes on with.
 */
export async function applyMigrations(
  database: Database,
  options: MigrateOptions = {},
): Promise<string[]> {
  const { lock_tries = LOCK_TRIES, drain_ms = DRAIN_MS, onOlder, stopped } = options;
  const applied: string[] = [];
  let waits_since_ms: number | undefined;
  for (;;) {
    const isWaitOver = performance.now() - (waits_since_ms ?? Infinity) >= drain_ms;
    const stage = await underLock(database, lock_tries, (trx) =>
      applySome(database, trx, options, isWaitOver),
    );
    if (stage.is === 'applied' && stage.names.length === 0) return applied;
    if (stage.is === 'applied') applied.push(...stage.names);
    if (stage.is !== 'waiting') continue;
    if (waits_since_ms === undefined) onOlder?.(stage.older);
    waits_since_ms ??= performance.now();
    await pauseUnlessStopped(stopped);
  }
}

async function pauseUnlessStopped(stopped: Promise<unknown> | undefined): Promise<void> {
  const ended = stopped?.then(() => {
    throw new WaitEnded('older boxes have not ended');
  });
  await Promise.race([sleep(LOOK_MS), ...(ended ? [ended] : [])]);
}

/** Whether a store was made in that database, by any version. */
export function isMigrated(database: Database): Promise<boolean> {
  return database.read((knex) => knex.schema.hasTable(TABLE));
}

/** Why this version may not use the store as it is; undefined if it may. */
export async function versionFault(database: Database): Promise<string | undefined> {
  return database.read(async (knex) => {
    const applied = await appliedNames(knex);
    const newer = await newerFault(knex, applied, MIGRATIONS);
    if (newer !== undefined || pendingOf(applied, MIGRATIONS).length === 0) return newer;
    return (
      'The store is of an older version of Tollgate: "tollgate migrate" brings it to this one, ' +
      'and so does "tollgate serve".'
    );
  });
}

/** Throws `StoreError` where this version may not use the store as it is. */
export async function refuseUnusable(database: Database): Promise<void> {
  const fault = await versionFault(database);
  if (fault !== undefined) throw new StoreError(fault);
}

/** Throws `StoreError` where the store is not of this very version. */
export async function refuseOtherVersion(database: Database): Promise<void> {
  await refuseUnusable(database);
  const applied = await database.read(appliedNames);
  const unknown = applied.find((name) => !isKnown(name, MIGRATIONS));
  if (unknown !== undefined) throw new StoreError(unknownFault(unknown));
}

/** Why a running process may not serve the store any more; undefined if it may. */
export function outdatedFault(database: Database): Promise<string | undefined> {
  return database.read((knex) => contractFault(knex, MIGRATIONS.length));
}

/** Applies the next migrations in a transaction: those of an empty store at once. */
async function applySome(
  database: Database,
  trx: Knex.Transaction,
  { migrations = MIGRATIONS, onMigrating }: MigrateOptions,
  isWaitOver: boolean,
): Promise<Stage> {
  await refuseNewer(trx, migrations);
  const applied = await appliedNames(trx);
  const [next, ...later] = pendingOf(applied, migrations);
  if (!next) return { is: 'applied', names: [] };
  const isNew = applied.length === 0;
  if (next.kind === 'contracts' && !isNew) {
    const stage = await stageBefore(database, trx, next.lowest);
    if (stage && !(stage.is === 'waiting' && isWaitOver)) return stage;
  }
  // Nothing else uses the store: in SQLite there is one writer, and the first process makes it.
  const isAlone = database.dialect === 'sqlite' || isNew;
  const end = isAlone ? later.find(({ kind }) => kind === 'contracts' && !isNew) : later[0];
  const upTo = end ? migrations.slice(0, migrations.indexOf(end)) : migrations;
  if (applied.length > 0) onMigrating?.(pendingOf(applied, upTo).map(({ name }) => name));
  const apply = async (name: string, own: Knex): Promise<void> => {
    const migration = upTo.find((one) => one.name === name);
    if (migration) await applyOne(migration, own, isAlone ? undefined : database);
  };
  const [, names]: [number, string[]] = await trx.migrate.latest({
    tableName: TABLE,
    // It would refuse those of a newer version.
    disableMigrationsListValidation: true,
    migrationSource: {
      getMigrations: async () => upTo.map(({ name }) => name),
      getMigrationName: (name: string) => name,
      getMigration: async (name: string) => ({
        up: (own: Knex) => apply(name, own),
        down: refuse,
      }),
    },
  });
  return { is: 'applied', names };
}

/** What comes before a migration that contracts; undefined if it may be applied. */
async function stageBefore(
  database: Database,
  trx: Knex.Transaction,
  lowest: number,
): Promise<Stage | undefined> {
  const contract = await contractOf(trx);
  // The programs of a store without one know of none, so that they would not end.
  if (contract === undefined) return undefined;
  if (contract < lowest) {
    await raiseContract(trx, lowest);
    return { is: 'raised' };
  }
  const older = await olderProcesses(trx, database, lowest);
  return older.length === 0 ? undefined : { is: 'waiting', older };
}

/** `busy` is the database of a store that others may use meanwhile. */
async function applyOne(
  migration: Migration,
  trx: Knex,
  busy: Database | undefined,
): Promise<void> {
  if (migration.up) await migration.up(trx);
  else if (busy) await takeStepsBesideCalls(busy.place, migration.steps);
  else await takeSteps(trx, migration.steps);
  if (migration.kind === 'contracts') await raiseContract(trx, migration.lowest);
}

/**
 * Runs work in a transaction while no other process migrates the store. Whoever waits begins new
 * transactions meanwhile: an index that is built beside calls waits for all that are older.
 */
async function underLock<T>(
  database: Database,
  lock_tries: number,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  if (database.dialect === 'sqlite') return database.write(work);
  for (let tries = 1; ;) {
    try {
      const found = await database.write(async (trx) => {
        await trx.raw(LIMITS);
        const { rows } = await trx.raw<{ rows: { locked: boolean }[] }>(
          'select pg_try_advisory_xact_lock(?) as locked',
          [ADVISORY_LOCK],
        );
        return rows[0]?.locked ? { value: await work(trx) } : undefined;
      });
      if (found) return found.value;
      await sleep(LOOK_MS);
    } catch (error) {
      if (!isLockMissed(error)) throw error;
      if (tries >= lock_tries) throw lockFault(error);
      tries += 1;
      const range_ms = LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS;
      await sleep(SHORTEST_PAUSE_MS + Math.random() * range_ms);
    }
  }
}

/** An index that is built beside calls waits for transactions that keep their snapshot. */
const LIMITS = `set transaction isolation level read committed;
  ${UNLIMITED};
  set local idle_in_transaction_session_timeout = 0;
  set local lock_timeout = ${TABLE_LOCK_MS}`;

function isLockMissed(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return codeOf(cause) === LOCK_NOT_AVAILABLE;
}

function lockFault(cause: unknown): StoreError {
  return new StoreError(
    'A migration waited for a table that another transaction of PostgreSQL keeps locked; ' +
      'end that one (pg_stat_activity shows it), and start again.',
    { cause },
  );
}

async function appliedNames(knex: Knex): Promise<string[]> {
  if (!(await knex.schema.hasTable(TABLE))) return [];
  const rows: { name: string }[] = await knex(TABLE).select('name').orderBy('id');
  return rows.map(({ name }) => name);
}

function pendingOf(applied: readonly string[], migrations: readonly Migration[]): Migration[] {
  return migrations.filter(({ name }) => !applied.includes(name));
}

async function refuseNewer(knex: Knex, migrations: readonly Migration[]): Promise<void> {
  const fault = await newerFault(knex, await appliedNames(knex), migrations);
  if (fault !== undefined) throw new StoreError(fault);
}

/** A newer version may have added migrations at the end, as far as its contract allows it. */
async function newerFault(
  knex: Knex,
  applied: readonly string[],
  migrations: readonly Migration[],
): Promise<string | undefined> {
  const unknown = applied.filter((name) => !isKnown(name, migrations));
  const [other] = unknown.filter((name) => Number.parseInt(name, 10) <= migrations.length);
  if (other !== undefined) return unknownFault(other);
  return unknown.length === 0 ? undefined : contractFault(knex, migrations.length);
}

function isKnown(name: string, migrations: readonly Migration[]): boolean {
  return migrations.some((known) => known.name === name);
}

function unknownFault(name: string): string {
  return (
    `The store is of a newer version of Tollgate: it has the migration "${name}", ` +
    'which this version does not know. Run that version, or a newer one.'
  );
}

async function refuse(): Promise<void> {
  throw new StoreError('Migrations are not undone; restore a backup instead.');
}
