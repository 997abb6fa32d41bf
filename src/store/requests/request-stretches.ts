import type { Database } from '../database.js';
import { accountOf, ALL, among, periodsOf } from './request-totals.js';
import type { RequestFilter } from './request-types.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How many days are searched at once for those whose hours are read. */
const DAYS = 31;

/** The records between two IDs, inclusive. */
export interface Stretch {
  first_id: string;
  last_id: string;
  /** The number of matching records according to the totals; absent if it is not known. */
  calls?: number;
}

/**
 * The stretches of records before a time in which the filter finds requests, the newest first: one
 * for each hour in which the totals have some. The totals by day select the hours that are read,
 * few at first and then more, as a page is often full after the first hours.
 */
export async function* stretchesOf(
  database: Database,
  { from_ms = 0, ...filter }: RequestFilter,
  to_ms: number,
): AsyncGenerator<Stretch, void> {
  const first_ms = Math.max(from_ms, (await oldestTime(database)) ?? Infinity);
  const account = (await accountOf(database, filter)) ?? ALL;
  for (let end_ms = to_ms; end_ms > first_ms;) {
    const start_ms = Math.max(first_ms, startOfDay(end_ms - 1) - (DAYS - 1) * DAY_MS);
    const span = { from_ms: start_ms, to_ms: end_ms };
    const days = await daysWith(database, account, filter, span);
    for (let at = 0, count = 1; at < days.length; at += count, count *= 2) {
      yield* await stretchesIn(database, account, filter, span, days.slice(at, at + count));
    }
    end_ms = startOfDay(start_ms);
  }
}

interface Span {
  from_ms: number;
  to_ms: number;
}

/** The days that may have matching requests, the newest first. */
async function daysWith(
  database: Database,
  account: string,
  filter: RequestFilter,
  span: Span,
): Promise<number[]> {
  const starts = periodsOf({ ...span, period: 'day' });
  const rows = await database.read<{ start_ms: bigint | number }[]>((knex) =>
    among(knex('request_totals').where({ period: 'day' }), account, ofDays(account, filter))
      .whereIn('start_ms', starts)
      .distinct('start_ms')
      .orderBy('start_ms', 'desc'),
  );
  return rows.map(({ start_ms }) => Number(start_ms));
}

/**
 * The part of the filter that day rows can apply: for one account, models or keys, no providers.
 */
function ofDays(account: string, { ...filter }: RequestFilter): RequestFilter {
  if (account === ALL) return filter;
  delete filter.provider;
  if (filter.key_id !== undefined) delete filter.model;
  return filter;
}

async function stretchesIn(
  database: Database,
  account: string,
  filter: RequestFilter,
  { from_ms, to_ms }: Span,
  days: readonly number[],
): Promise<Stretch[]> {
  const starts = days.flatMap((day_ms) =>
    periodsOf({
      from_ms: Math.max(day_ms, from_ms),
      to_ms: Math.min(day_ms + DAY_MS, to_ms),
      period: 'hour',
    }),
  );
  const rows = await database.read<(Stretch & { calls: unknown })[]>((knex) =>
    among(knex('request_totals').where({ period: 'hour' }), account, filter)
      .whereIn('start_ms', starts)
      .groupBy('start_ms')
      .orderBy('start_ms', 'desc')
      .min({ first_id: 'first_id' })
      .max({ last_id: 'last_id' })
      .sum({ calls: 'calls' }),
  );
  return rows.map((row) => ({ ...row, calls: Number(row.calls) }));
}

/** The time of the oldest record. The totals may go back much further. */
async function oldestTime(database: Database): Promise<number | undefined> {
  const row = await database.read<{ time_ms: bigint | number } | undefined>((knex) =>
    knex('requests').orderBy('id').first('time_ms'),
  );
  return row && Number(row.time_ms);
}

function startOfDay(ms: number): number {
  return ms - (ms % DAY_MS);
}
