import type { RequestRecord } from '../../core/request-record.js';
import type { TokenClass } from '../../core/usage.js';

/** Which requests a page shows. A missing field matches all. */
export interface RequestFilter {
  /** From this time on, in ms since 1970. */
  from_ms?: number;
  /** Before this time. */
  to_ms?: number;
  account_id?: string;
  key_id?: string;
  model?: string;
  provider?: string;
  /** The client program. */
  agent?: string;
  /** An exact status, or the hundred of its class: 4 means 400 to 499. */
  status?: number;
  /** The code of the error. */
  code?: string;
  /** Only requests that were refused or failed, or whose client disconnected. */
  failed?: boolean;
}

/** A page of requests, newest first: those before the ID of the last one that was seen. */
export interface RequestPage extends RequestFilter {
  before?: string;
  limit: number;
}

/** The figures of many requests. Times and amounts are sums. */
export interface RequestTotals extends Record<TokenClass, number> {
  calls: number;
  /** Refused or failed. A client that disconnected is not a failure. */
  failed: number;
  estimated: number;
  /** Answered by another upstream than the first one. */
  fallbacks: number;
  /** With the flag `moved`. */
  moved: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_nano: bigint;
  uncollected_nano: bigint;
  /** What the upstreams took, and `cost_nano` beyond that, of the calls where that is known. */
  upstream_cost_nano: bigint;
  profit_nano: bigint;
  /** See `RequestRecord` for these two. */
  saved_nano: bigint;
  lost_nano: bigint;
  took_ms: number;
  own_ms: number;
}

/** How totals can be split. */
export const DIMENSIONS = [
  'start_ms',
  'account_id',
  'key_id',
  'model',
  'provider',
  'status',
  'agent',
] as const;

export type Dimension = (typeof DIMENSIONS)[number];

/** Which totals are added up, and the dimensions by which they are split. */
export interface TotalsQuery extends Pick<
  RequestFilter,
  'account_id' | 'key_id' | 'model' | 'provider' | 'status' | 'agent'
> {
  /** The first period is the hour, or the day of UTC, that contains this time. */
  from_ms: number;
  /** The last period is the one that contains the millisecond before this time. */
  to_ms: number;
  /**
   * At most 31 days by the hour, and 400 by the day. By the day, only the sum of all accounts is
   * split by provider, and a key is not split by model. A split of every account that day rows do
   * not have is available for 49 hours at most.
   */
  period: 'hour' | 'day';
  by: readonly Dimension[];
  /** Adds hours up to the days of UTC that they are in, at which `start_ms` then begins. */
  step?: 'day';
  /** The figures to add up beside the calls; the others are 0. All figures if left out. */
  figures?: readonly (keyof RequestTotals)[];
}

/** Hours of an account, or of one of its keys or models. */
export interface HourRowsQuery extends Pick<TotalsQuery, 'key_id' | 'model' | 'from_ms' | 'to_ms'> {
  account_id: string;
}

/** Totals, with the dimensions of the query. A model, provider or agent is empty if unknown. */
export type TotalsRow = RequestTotals & {
  start_ms?: number;
  account_id?: string;
  key_id?: string;
  model?: string;
  provider?: string;
  status?: number;
  agent?: string;
};

/** Latencies of an account are not split by model or provider. */
export interface LatencyQuery extends Pick<TotalsQuery, 'account_id' | 'model' | 'provider'> {
  from_ms: number;
  to_ms: number;
  by: readonly ('start_ms' | 'model' | 'provider')[];
  /** The period that begins at `start_ms`, by default the hour. Whole days are read faster. */
  period?: 'hour' | 'day';
}

/** Percentiles of answered calls in ms, within 10 %; null where there were no such calls. */
export interface LatencyRow {
  start_ms?: number;
  model?: string;
  provider?: string;
  took: Percentiles | null;
  first_token: Percentiles | null;
}

/** Percentiles of a time, and the number of calls that they are of. */
export interface Percentiles {
  calls: number;
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
}

/** The last record that was read, in the order of the numbers. */
export interface TailCursor {
  seq: bigint;
  id: string;
}

/** Records that have come since a cursor, and the cursor behind them. */
export interface RequestTail {
  records: RequestRecord[];
  cursor: TailCursor;
}

/** The records of requests, and their totals by the hour and by the day. */
export interface RequestStore {
  /** Writes records that were not written with a charge. Existing records stay unchanged. */
  add(records: readonly RequestRecord[]): Promise<void>;
  /** The number of records of this process that the store could not write. */
  readonly lost: number;
  /** The number that it has written: the totals do not change while this does not. */
  readonly written: number;
  page(page: RequestPage): Promise<RequestRecord[]>;
  one(id: string): Promise<RequestRecord | undefined>;
  /**
   * The records after the cursor, in the order of their numbers; without a cursor, only its end. On
   * PostgreSQL a record is there once the totals have it.
   */
  tail(cursor: TailCursor | undefined, limit: number): Promise<RequestTail>;
  /** Reads the totals, which are a second or two behind the records. */
  totals(query: TotalsQuery): Promise<TotalsRow[]>;
  latencies(query: LatencyQuery): Promise<LatencyRow[]>;
  /**
   * How many rows the hours of an account have, up to the limit. An hour has one row for each key,
   * model, provider and status. Adding up a hundred thousand of them takes long.
   */
  hourRows(query: HourRowsQuery, limit: number): Promise<number>;
  /** Adds some new records to the totals. True if there are more. */
  rollUp(): Promise<boolean>;
  /**
   * Deletes older records and totals in small steps, for a few seconds at most, or until the signal
   * is aborted. Resolves with the number of rows.
   */
  sweep(before: { records_ms: number; totals_ms: number }, signal?: AbortSignal): Promise<number>;
}

/** The writes of a request store, once for each database. */
export interface HotRequests extends Pick<RequestStore, 'add' | 'rollUp' | 'lost' | 'written'> {
  /** Deletes one step of old records and totals. Resolves with the number of rows. */
  sweepStep(before: { id: string; totals_ms: number }): Promise<number>;
}
