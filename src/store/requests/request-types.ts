import type { RequestRecord } from '../../core/request-record.js';
import type { TokenClass } from '../../core/usage.js';

/** Which requests a page shows. What is left out does not matter. */
export interface RequestFilter {
  /** From this time on, in ms since 1970. */
  from_ms?: number;
  /** Before this time. */
  to_ms?: number;
  account_id?: string;
  key_id?: string;
  model?: string;
  provider?: string;
  /** An exact status, or the hundred of its class: 4 means 400 to 499. */
  status?: number;
  /** The code of the error. */
  code?: string;
  /** Only those that were refused, failed or left. */
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
  /** Refused or failed; a client that left is no failure. */
  failed: number;
  estimated: number;
  /** Answered by another upstream than the first one. */
  fallbacks: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_nano: bigint;
  uncollected_nano: bigint;
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
] as const;

export type Dimension = (typeof DIMENSIONS)[number];

export interface TotalsQuery extends Pick<
  RequestFilter,
  'account_id' | 'key_id' | 'model' | 'provider' | 'status'
> {
  /** The hour, or the day of UTC, that this time is in is the first one. */
  from_ms: number;
  /** The one that this time is in is left out, if the time is its beginning. */
  to_ms: number;
  /**
   * At most 31 days by the hour, and 400 by the day. By the day, providers are told apart for all
   * accounts together only, and models not within a key. What the days do not tell apart of all
   * accounts at once is told by the hour for 49 hours at most.
   */
  period: 'hour' | 'day';
  by: readonly Dimension[];
  /** What is added up beside the calls, and the rest is 0. All, where it is left out. */
  figures?: readonly (keyof RequestTotals)[];
}

/** The hours of an account, of one of its keys, of a model. */
export interface HourRowsQuery extends Pick<TotalsQuery, 'key_id' | 'model' | 'from_ms' | 'to_ms'> {
  account_id: string;
}

/** Totals, with the dimensions that were asked for. A model or provider that is none is empty. */
export type TotalsRow = RequestTotals & {
  start_ms?: number;
  account_id?: string;
  key_id?: string;
  model?: string;
  provider?: string;
  status?: number;
};

/** Those of an account are not told apart by model or provider. */
export interface LatencyQuery extends Pick<TotalsQuery, 'account_id' | 'model' | 'provider'> {
  from_ms: number;
  to_ms: number;
  by: readonly ('start_ms' | 'model' | 'provider')[];
  /** What `start_ms` begins: the hour if it is left out; whole days are read faster. */
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

export interface Percentiles {
  calls: number;
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
}

/** The last record that was read of those in the order of their commits. */
export interface TailCursor {
  seq: bigint;
  id: string;
}

export interface RequestTail {
  records: RequestRecord[];
  cursor: TailCursor;
}

/** The records of requests, and their totals by the hour and by the day. */
export interface RequestStore {
  /** Writes records that no charge has taken along; those that are there stay as they are. */
  add(records: readonly RequestRecord[]): Promise<void>;
  /** Records that this process gave to the store, which could not write them. */
  readonly lost: number;
  page(page: RequestPage): Promise<RequestRecord[]>;
  one(id: string): Promise<RequestRecord | undefined>;
  /** What was written after the cursor, in the order of the writes; without one, its end alone. */
  tail(cursor: TailCursor | undefined, limit: number): Promise<RequestTail>;
  /** From the totals, which are a second or two behind the records. */
  totals(query: TotalsQuery): Promise<TotalsRow[]>;
  latencies(query: LatencyQuery): Promise<LatencyRow[]>;
  /**
   * How many rows hours of an account have, at most the limit. An hour has one for each key, model,
   * provider and status, and a hundred thousand are added up for a third of a second.
   */
  hourRows(query: HourRowsQuery, limit: number): Promise<number>;
  /** Adds some new records to the totals; true where there are more. */
  rollUp(): Promise<boolean>;
  /** Deletes what is older, in small steps; resolves after a few seconds at the latest. */
  sweep(before: { records_ms: number; totals_ms: number }): Promise<number>;
}

/** The writes of a request store, once for each database. */
export interface HotRequests extends Pick<RequestStore, 'add' | 'rollUp' | 'lost'> {
  /** Deletes one step of old records, and of old totals; answers how many rows. */
  sweepStep(before: { id: string; totals_ms: number }): Promise<number>;
}
