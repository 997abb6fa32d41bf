import { resolve } from 'node:path';
import knexOf, { type Knex } from 'knex';
import { makePrivate } from './owner-only.js';
import { codeOf, withRetry } from './retry.js';
import { sqliteClient } from './sqlite/sqlite-driver.js';
import { sqliteFault } from './sqlite/sqlite-fault.js';
import { StoreError, StoreUnreachable } from './store-error.js';

/**
 * The connection of all functions outside the hot path. On both databases an integer is read as a
 * bigint, and a boolean column as a truthy or falsy value.
 */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** The absolute file of SQLite, the URL of PostgreSQL. */
  readonly location: string;
  /** SQL for the time by the clock of the database, which all processes share. */
  readonly clock_ms: string;
  /** Runs single statements, without a transaction. */
  read<T>(work: (knex: Knex) => Promise<T>): Promise<T>;
  /** Runs several reads that see the same state, even while others write. */
  snapshot<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs a transaction; in SQLite it is the only writer meanwhile. The work may run more than once.
   */
  write<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Marks the file as ours for `file(1)`. Setting it also takes the write lock of the database. */
export const SQLITE_APPLICATION_ID = 0x544f4c4c;

/** Knex must print nothing: it throws the same errors, and the caller logs them. */
const SILENT = {
  debug: () => undefined,
  deprecate: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Serialization failure, deadlock, too many connections, still starting. */
const TRY_AGAIN = new Set(['40001', '40P01', '53300', '57P03']);

export const SQLITE_CLOCK_MS = "cast(unixepoch('subsec') * 1000 as integer)";
export const POSTGRES_CLOCK_MS = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Takes `sqlite:PATH` or `postgres://…`; anything else is a `StoreError`. Opens nothing yet. */
export function openDatabase(url: string): Database {
  if (url.startsWith('sqlite:')) return openSqlite(resolve(url.slice('sqlite:'.length)));
  if (/^postgres(ql)?:/.test(url)) return openPostgres(url);
  throw new StoreError('The store must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.');
}

/** Another connection has the write lock. Nothing was changed, and a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY') || codeOf(error) === 'SQLITE_PROTOCOL';
}

/** PostgreSQL rolled the statement back or did not begin it. A retry may succeed. */
export function isConflict(error: unknown): boolean {
  return TRY_AGAIN.has(codeOf(error));
}

const OUTAGE = /^(08...|57P0[123]|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT)$/;

/** Too many connections; the address of the server has no host. */
const NO_CONNECTION = /^(53300|ENOTFOUND|EAI_AGAIN|E(HOST|NET)(UNREACH|DOWN))$/;

/** A message of the driver, without a code. Knex writes the statement before it. */
const ENDED = /(?:^| - )Connection terminated(?: |$)/u;

/** PostgreSQL went away or is starting. Whether the statement was done is not known. */
function isOutage(error: unknown): boolean {
  if (OUTAGE.test(codeOf(error))) return true;
  return error instanceof Error && ENDED.test(error.message);
}

/** Errors after which an idempotent statement, such as a read, may run again. */
export function isTransient(error: unknown): boolean {
  return isConflict(error) || isOutage(error);
}

/** Messages of the drivers, without a code: the server hangs, or no connection is free. */
const NO_ANSWER = new RegExp(
  '(?:^| - )(timeout exceeded when trying to connect|Query read timeout|' +
    'Knex: Timeout acquiring a connection|Client has encountered a connection error)',
  'u',
);

function isUnreachable(error: unknown): boolean {
  if (isOutage(error) || NO_CONNECTION.test(codeOf(error))) return true;
  return error instanceof Error && NO_ANSWER.test(error.message);
}

/**
 * Runs work on PostgreSQL, and again after errors that `canRetry` accepts. Throws
 * `StoreUnreachable` if PostgreSQL could not be reached.
 */
export async function onPostgres<T>(
  canRetry: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await withRetry(canRetry, work);
  } catch (error) {
    throw isUnreachable(error) ? new StoreUnreachable(error) : error;
  }
}

/** The time by the clock of the database. */
export async function readClock(database: Database): Promise<number> {
  const { clock_ms } = database;
  const row = await database.read<{ now_ms: unknown }>((knex) =>
    knex.first(knex.raw(`${clock_ms} as now_ms`)),
  );
  return Number(row.now_ms);
}

function openSqlite(file: string): Database {
  makePrivateStore(file);
  const knex = knexOf({
    client: sqliteClient(),
    connection: { filename: file, options: { safeIntegers: true } },
    useNullAsDefault: true,
    log: SILENT,
    pool: { min: 0, max: 1, afterCreate: hook(prepareSqlite) },
  });
  return {
    dialect: 'sqlite',
    location: file,
    clock_ms: SQLITE_CLOCK_MS,
    read: (work) => onSqlite(file, () => work(knex)),
    snapshot: (work) => onSqlite(file, () => knex.transaction(work)),
    write: (work) => onSqlite(file, () => knex.transaction((trx) => writeFirst(trx, work))),
    close: () => knex.destroy(),
  };
}

function makePrivateStore(file: string): void {
  try {
    makePrivate(file);
  } catch (error) {
    throw sqliteFault(file, error);
  }
}

/**
 * Runs work on SQLite, and again while another connection has the lock. Throws `StoreUnreachable`
 * if the file or its disk fails.
 */
export async function onSqlite<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await withRetry(isBusy, work);
  } catch (error) {
    throw sqliteFault(file, error);
  }
}

interface SqliteConnection {
  pragma(source: string): unknown;
}

/**
 * A checkpoint copies each page that changed since the last one into the file, so fewer checkpoints
 * copy it less often. The write-ahead log grows to 16 MB between two of them.
 */
export const CHECKPOINT_PAGES = 4_000;
/** For connections whose checkpoints another connection, or a thread, makes. */
export const LATE_CHECKPOINT_PAGES = 10 * CHECKPOINT_PAGES;

/** Prepares a connection to a file. Waiting for a lock blocks the event loop, so it is short. */
export function prepareSqlite(connection: SqliteConnection): void {
  connection.pragma('busy_timeout = 2');
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma(`wal_autocheckpoint = ${LATE_CHECKPOINT_PAGES}`);
}

/**
 * Begins the transaction with a write. One that begins with a read cannot write once another
 * connection has written.
 */
async function writeFirst<T>(
  trx: Knex.Transaction,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  await trx.raw(`pragma application_id = ${SQLITE_APPLICATION_ID}`);
  return work(trx);
}

function openPostgres(url: string): Database {
  const knex = knexOf({
    client: 'pg',
    connection: { connectionString: url },
    log: SILENT,
    pool: { min: 0, max: 4, afterCreate: hook(parseBigints) },
    acquireConnectionTimeout: 10_000,
  });
  const snapshot = { isolationLevel: 'repeatable read', readOnly: true } as const;
  return {
    dialect: 'postgres',
    location: url,
    clock_ms: POSTGRES_CLOCK_MS,
    read: (work) => onPostgres(isTransient, () => work(knex)),
    snapshot: (work) => onPostgres(isTransient, () => knex.transaction(work, snapshot)),
    write: (work) => onPostgres(isConflict, () => knex.transaction(work)),
    close: () => knex.destroy(),
  };
}

interface PostgresConnection {
  setTypeParser(oid: number, parse: (text: string) => bigint): void;
}

const INT8_OID = 20;

function parseBigints(connection: PostgresConnection): void {
  connection.setTypeParser(INT8_OID, BigInt);
}

/** Wraps a function for the pool of knex, which expects a callback. */
function hook<C>(prepare: (connection: C) => void) {
  return (connection: C, done: (error: unknown, connection: C) => void): void => {
    try {
      prepare(connection);
    } catch (error) {
      done(error, connection);
      return;
    }
    done(undefined, connection);
  };
}
