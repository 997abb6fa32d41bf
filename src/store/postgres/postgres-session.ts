import type pg from 'pg';
import { codeOf } from '../retry.js';
import type { SQL } from './postgres-statements.js';

/** What the hot path on PostgreSQL lends to its parts. */
export interface PostgresSession {
  /** One statement, tried again where the database undid it. */
  run<Row extends pg.QueryResultRow>(name: keyof typeof SQL, values: unknown[]): Result<Row>;
  /** One that may be done twice without harm: also tried again where the connection was lost. */
  runIdempotent<Row extends pg.QueryResultRow>(
    name: keyof typeof SQL,
    values: unknown[],
  ): Result<Row>;
  /** For a statement that needs this process to be known. */
  ensureRegistered<T>(work: () => Promise<T>): Promise<T>;
  track<T>(act: Promise<T>): Promise<T>;
  process_id: string;
  now: () => number;
}

type Result<Row extends pg.QueryResultRow> = Promise<pg.QueryResult<Row>>;

/** The database refused what it was given, a value or a row that breaks a rule, and did nothing. */
export function isDataError(error: unknown): boolean {
  return /^2[23]/u.test(codeOf(error));
}
