import { AMOUNTS } from '../../store/requests/request-totals.js';
import type { RequestTotals, TotalsRow } from '../../store/requests/request-types.js';

/** Totals of no calls. */
export const NO_CALLS: Readonly<RequestTotals> = Object.freeze({
  calls: 0,
  failed: 0,
  estimated: 0,
  fallbacks: 0,
  moved: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  audio_input_tokens: 0,
  image_input_tokens: 0,
  audio_output_tokens: 0,
  image_output_tokens: 0,
  reasoning_tokens: 0,
  cost_nano: 0n,
  uncollected_nano: 0n,
  upstream_cost_nano: 0n,
  profit_nano: 0n,
  saved_nano: 0n,
  lost_nano: 0n,
  took_ms: 0,
  own_ms: 0,
});

const COUNTS = (Object.keys(NO_CALLS) as (keyof RequestTotals)[]).filter(
  (name): name is Exclude<keyof RequestTotals, (typeof AMOUNTS)[number]> =>
    !AMOUNTS.some((amount) => amount === name),
);

/** The sum of some totals. */
export function sumTotals(rows: readonly RequestTotals[]): RequestTotals {
  const sum = { ...NO_CALLS };
  for (const row of rows) {
    for (const name of COUNTS) sum[name] += row[name];
    for (const name of AMOUNTS) sum[name] += row[name];
  }
  return sum;
}

/** Groups rows by name, and sums up each group. */
export function groupTotals<Name>(
  rows: readonly TotalsRow[],
  nameOf: (row: TotalsRow) => Name,
): { name: Name; totals: RequestTotals }[] {
  const groups = new Map<Name, TotalsRow[]>();
  for (const row of rows) {
    const name = nameOf(row);
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [...groups].map(([name, members]) => ({ name, totals: sumTotals(members) }));
}

/**
 * Rows by status in which only what the upstream did wrong counts as failed. A 4xx is the client's
 * fault: all failures of an upstream itself end as 502, or within a stream that was 200.
 */
export function ownFailures(rows: readonly TotalsRow[]): TotalsRow[] {
  return rows.map((row) => {
    const { status = 0 } = row;
    return status >= 400 && status < 500 ? { ...row, failed: 0 } : row;
  });
}

/** How a figure has changed since the period before: 0.12 is 12 % more; undefined without one. */
export function changeOf(now: number, before: number): number | undefined {
  return before > 0 ? (now - before) / before : undefined;
}

/** How many whole days a credit lasts at a daily spend; undefined where nothing is spent. */
export function daysLeft(available_nano: bigint, daily_nano: bigint): number | undefined {
  if (daily_nano <= 0n) return undefined;
  return available_nano <= 0n ? 0 : Number(available_nano / daily_nano);
}
