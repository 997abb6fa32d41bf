import { resolve } from 'node:path';
import knexOf, { type Knex } from 'knex';
import { placeOfStore, type StorePlace } from '../core/store-place.js';
import { makePrivate } from './owner-only.js';
import { codeOf, outageWait_ms, wait_ms, withRetry, type RetryWait } from './retry.js';
import { isPooled, knexClientOf } from './postgres/postgres-hosts.js';
import { postgresPlaceOf } from './postgres/postgres-place.js';
import { sqliteClient } from './sqlite/sqlite-driver.js';
import { sqliteFault } from './sqlite/sqlite-fault.js';
import { StoreError, StoreUnreachable } from './store-error.js';

/**
 * The connection of all functions outside the hot path. On both databases an integer is read as a
 * bigint, and a boolean column as a truthy or falsy value.
 */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  readonly place: StorePlace;
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

/** Serialization failure, deadlock. */
const CONFLICT = new Set(['40001', '40P01']);

export const SQLITE_CLOCK_MS = "cast(unixepoch('subsec') * 1000 as integer)";
export const POSTGRES_CLOCK_MS = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint';

const SQLITE = 'sqlite:';

/**
 * Takes a place, or the URL of one: `sqlite:PATH` or `postgres://…`; anything else is a
 * `StoreError`. Opens nothing yet.
 */
export function openDatabase(at: StorePlace | string): Database {
  const place = placeOfStore(at);
  const file = sqliteFileOf(place.url);
  if (file !== undefined) return openSqlite(file, place);
  if (/^postgres(ql)?:/.test(place.url)) return openPostgres(place);
  throw new StoreError('The store must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.');
}

/** The absolute file of a SQLite store. */
export function sqliteFileOf(url: string): string | undefined {
  return url.startsWith(SQLITE) ? resolve(url.slice(SQLITE.length)) : undefined;
}

/** Whether a connection, such as that of a migration, is to PostgreSQL. */
export function isOnPostgres({ client }: Knex): boolean {
  return (client as Knex.Client).dialect === 'postgresql';
}

/** Another connection has the write lock. Nothing was changed, and a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY') || codeOf(error) === 'SQLITE_PROTOCOL';
}

/** PostgreSQL rolled the statement back, because of another one. */
function isConflict(error: unknown): boolean {
  return CONFLICT.has(codeOf(error));
}

/** Too many connections, still starting: PostgreSQL did not begin the statement. */
const NOT_BEGUN = new Set(['53300', '57P03']);

const LOST = /^(08...|57P0[123]|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT)$/;

/**
 * Messages of the driver, without a code: of a connection that broke, or that is being left. Knex
 * writes the statement before them.
 */
const ENDED = /(?:^| - )(?:Connection terminated(?: |$)|Client was closed and is not queryable$)/u;

/** PostgreSQL went away or is starting. Whether the statement was done is not known. */
function isLost(error: unknown): boolean {
  if (LOST.test(codeOf(error))) return true;
  return error instanceof Error && ENDED.test(error.message);
}

/** Tries again what PostgreSQL rolled back or did not begin. */
export const afterConflict: RetryWait = (error, attempt) => {
  if (isConflict(error)) return wait_ms(attempt);
  return NOT_BEGUN.has(codeOf(error)) ? outageWait_ms(attempt) : undefined;
};

/** Tries a read once more if its connection broke: a new one may reach the store. */
export const afterBreak: RetryWait = (error, attempt) =>
  afterConflict(error, attempt) ?? (attempt === 1 && isLost(error) ? 0 : undefined);

/** Tries an idempotent statement again, such as a read, also after a lost connection. */
export const afterTransient: RetryWait = (error, attempt) =>
  afterConflict(error, attempt) ?? (isLost(error) ? outageWait_ms(attempt) : undefined);

/**
 * The classes of errors in which the server, and not the statement, is at fault: no connection (08,
 * 28, 3D), read-only (25006) or a time limit between statements (25P03, 25P04), a conflict that
 * does not end (40), no disk, memory or connection (53), no transaction numbers left (54000), a
 * lock (55), stopped by an operator or a time limit (57), the system (58, F0, XX), or an old
 * snapshot (72).
 */
const SERVER_FAULT =
  /^(08...|25006|25P0[34]|28...|3D...|40...|53...|54000|55...|57...|58...|72...|F0...|XX...)$/u;

/** Errors of the network, of name servers, of TLS and of a process that has no more files. */
const NO_CONNECTION = new RegExp(
  '^(E(NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT|MFILE|NFILE|ADDRNOTAVAIL|(CONN|HOST|NET)[A-Z]+)|' +
    'ERR_(TLS|SSL)_.+|CERT_.+|.+_(CERT|ISSUER_CERT_LOCALLY|LEAF_SIGNATURE))$',
  'u',
);

/** Messages of the drivers, without a code: the server hangs, or no connection is free. */
const NO_ANSWER = new RegExp(
  '(?:^| - )(timeout exceeded when trying to connect|Query read timeout|' +
    'Knex: Timeout acquiring a connection|Client has encountered a connection error|' +
    'The server does not support SSL connections)',
  'u',
);

function isUnreachable(error: unknown): boolean {
  const code = codeOf(error);
  if (isLost(error) || SERVER_FAULT.test(code) || NO_CONNECTION.test(code)) return true;
  if (!(error instanceof Error)) return false;
  // A socket of the file system that is not there.
  return NO_ANSWER.test(error.message) || ('syscall' in error && error.syscall === 'connect');
}

/**
 * Runs work on PostgreSQL, and again after the errors for which `waitAfter` has a wait. Throws
 * `StoreUnreachable` if PostgreSQL cannot be reached or cannot work now.
 */
export async function onPostgres<T>(waitAfter: RetryWait, work: () => Promise<T>): Promise<T> {
  try {
    return await withRetry(waitAfter, work);
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

function openSqlite(file: string, place: StorePlace): Database {
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
    place,
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
 * if it stays locked, or if the file or its disk fails.
 */
export async function onSqlite<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await withRetry(
      (error, attempt) => (isBusy(error) ? wait_ms(attempt) : undefined),
      work,
    );
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

/** How many of the connections serve calls, and how many all else. */
export function connectionsOf({ connections }: StorePlace): { calls: number; others: number } {
  const others = Math.min(4, Math.floor(connections / 2));
  return { calls: connections - others, others };
}

function openPostgres(place: StorePlace): Database {
  const found = postgresPlaceOf(place);
  const open = new Set<PostgresConnection>();
  const knex = knexOf({
    client: knexClientOf(found),
    connection: {
      ...found.options,
      connectionString: found.urls[0] ?? place.url,
      connectionTimeoutMillis: place.connect_ms,
    },
    log: SILENT,
    pool: {
      min: 0,
      max: connectionsOf(place).others,
      afterCreate: (connection: PostgresConnection, done: PreparedCallback) => {
        open.add(connection);
        connection.on('end', () => open.delete(connection));
        preparePostgres(connection, place.statement_ms, done);
      },
    },
    acquireConnectionTimeout: place.connect_ms,
  });
  // The connections to a host that takes no writes any more are of no use.
  const leave = (error: unknown): never => {
    if (codeOf(error) === READ_ONLY) for (const connection of open) void connection.end();
    throw error;
  };
  const snapshot = { isolationLevel: 'repeatable read', readOnly: true } as const;
  // A proof of the whole ledger takes as long as it takes.
  const unlimited =
    <T>(work: (trx: Knex.Transaction) => Promise<T>) =>
    async (trx: Knex.Transaction): Promise<T> => {
      await trx.raw(UNLIMITED);
      return work(trx);
    };
  return {
    dialect: 'postgres',
    place,
    location: place.url,
    clock_ms: POSTGRES_CLOCK_MS,
    read: (work) => onPostgres(afterTransient, () => work(knex)),
    snapshot: (work) =>
      onPostgres(afterTransient, () => knex.transaction(unlimited(work), snapshot)),
    write: (work) => onPostgres(afterConflict, () => knex.transaction(work).catch(leave)),
    close: () => knex.destroy(),
  };
}

/** A host became a standby, or is one. */
const READ_ONLY = '25006';

type PreparedCallback = (error: unknown, connection: PostgresConnection) => void;

interface PostgresConnection {
  on(event: 'end', listener: () => void): void;
  end(): Promise<void>;
  setTypeParser(oid: number, parse: (text: string) => bigint): void;
  query(sql: string, done: (error: unknown) => void): void;
}

const INT8_OID = 20;

/** The time limit of a pause within a transaction. */
const PAUSE_MS = 60_000;

/** Takes the time limit of statements from a transaction. */
export const UNLIMITED = 'set local statement_timeout = 0';

/**
 * Limits the time of a statement, and of a pause within a transaction, at the server: it would go
 * on with a statement, and keep its locks, after its client has given up or is gone.
 */
export function timeLimits(statement_ms: number): string {
  return `set statement_timeout = ${statement_ms};
    set idle_in_transaction_session_timeout = ${PAUSE_MS}`;
}

function preparePostgres(
  connection: PostgresConnection,
  statement_ms: number,
  done: PreparedCallback,
): void {
  connection.setTypeParser(INT8_OID, BigInt);
  if (isPooled(connection)) return done(undefined, connection);
  connection.query(timeLimits(statement_ms), (error) => done(error, connection));
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
