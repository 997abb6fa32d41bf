import type { Account } from '../../store/accounts/accounts.js';
import type { LatencyRow, RequestTotals, TotalsRow } from '../../store/requests/request-types.js';
import type { DashboardServices } from '../types.js';
import { DAY_MS, dayName } from './days.js';
import type { Span } from './moments.js';
import { daysLeft, sumOf } from './traffic.js';
import { usageRange, type UsageRange } from './usage.js';

const HOUR_MS = 3_600_000;
/** Ranges shorter than this are shown by the hour. */
const BY_HOUR_MS = 3 * DAY_MS;
/** Models, keys and latencies of an account are known by the hour, of so many days at once. */
const DETAILED_DAYS = 31;
/** More are not added up by the hour for one page: it would take too long. */
const DETAILED_CALLS = 200_000;
const PACE_DAYS = 7;

export interface UsageAsk {
  account_id: string;
  from?: string | undefined;
  to?: string | undefined;
  model?: string | undefined;
  key_id?: string | undefined;
  /** Whether the models or keys are told apart, or latencies shown. */
  is_detailed: boolean;
}

export interface UsageReport {
  range: UsageRange;
  /** The range was cut to the last days that can be told in detail. */
  is_cut: boolean;
  /** What the charts are drawn by. */
  period: 'hour' | 'day';
  /** By start, and by model for 31 days at most. */
  rows: TotalsRow[];
  totals: RequestTotals;
  latency: LatencyRow | undefined;
  /** The same of the range before, as long as this one has lasted so far. */
  before: { totals: RequestTotals; latency: LatencyRow | undefined };
}

/** What an account has used in a range of days, and in the range before. */
export async function usageReport(
  ask: UsageAsk,
  services: Pick<DashboardServices, 'store' | 'now'>,
): Promise<UsageReport> {
  const { account_id, model, key_id } = ask;
  const { requests } = services.store;
  const asked = usageRange(ask, services.now());
  const known = await detailedPart(asked, account_id, services);
  const is_long = known.from_ms > asked.from_ms;
  const is_cut = is_long && (ask.is_detailed || model !== undefined || key_id !== undefined);
  const range = is_cut ? known : asked;
  const is_coarse = is_long && !is_cut;
  const filter = { account_id, ...(model !== undefined && { model }), ...(key_id && { key_id }) };
  const only = { ...filter, period: is_coarse ? ('day' as const) : ('hour' as const) };
  const past = spanBefore(range, services.now(), is_coarse ? DAY_MS : HOUR_MS);
  const latencyOf = async (span: Span): Promise<LatencyRow | undefined> => {
    if (span.to_ms - span.from_ms > DETAILED_DAYS * DAY_MS) return undefined;
    return (await requests.latencies({ ...span, account_id, by: [] }))[0];
  };
  const [rows, before, latency, latencyBefore] = await Promise.all([
    requests.totals({ ...only, ...range, by: is_coarse ? ['start_ms'] : ['start_ms', 'model'] }),
    requests.totals({ ...only, ...past, by: [] }),
    latencyOf(range),
    latencyOf(past),
  ]);
  return {
    range,
    is_cut,
    period: range.to_ms - range.from_ms < BY_HOUR_MS && !is_coarse ? 'hour' : 'day',
    rows,
    totals: sumOf(rows),
    latency,
    before: { totals: sumOf(before), latency: latencyBefore },
  };
}

/** The last days of a range, at least one, that can be added up by the hour. */
async function detailedPart(
  range: UsageRange,
  account_id: string,
  { store }: Pick<DashboardServices, 'store'>,
): Promise<UsageRange> {
  const { from_ms, to_ms } = range;
  const query = { from_ms, to_ms, account_id, period: 'day', by: ['start_ms'] } as const;
  const days = await store.requests.totals(query);
  let start_ms = Math.max(from_ms, to_ms - DETAILED_DAYS * DAY_MS);
  let calls = 0;
  for (const day of days.toReversed()) {
    const day_ms = day.start_ms ?? 0;
    calls += day.calls;
    if (calls <= DETAILED_CALLS) continue;
    start_ms = Math.max(start_ms, Math.min(day_ms + DAY_MS, to_ms - DAY_MS));
    break;
  }
  if (start_ms === from_ms) return range;
  return { ...range, from: dayName(start_ms), from_ms: start_ms };
}

/** As long before the range as it has lasted until now, in whole hours or days. */
function spanBefore({ from_ms, to_ms }: Span, now_ms: number, unit_ms: number): Span {
  const lasted_ms = Math.max(Math.min(to_ms, now_ms) - from_ms, unit_ms);
  return { from_ms: from_ms - Math.ceil(lasted_ms / unit_ms) * unit_ms, to_ms: from_ms };
}

/** What an account spends in a day, of its last week, and how long its credit lasts at that. */
export interface Pace {
  daily_nano: bigint;
  days: number | undefined;
}

export async function paceOf(
  { id, balance_nano, held_nano }: Account,
  { store: { requests }, now }: Pick<DashboardServices, 'store' | 'now'>,
): Promise<Pace> {
  const to_ms = now();
  const from_ms = Math.floor(to_ms / DAY_MS - PACE_DAYS + 1) * DAY_MS;
  const query = { from_ms, to_ms, period: 'day', account_id: id, by: ['start_ms'] } as const;
  const rows = (await requests.totals(query)).filter(({ cost_nano }) => cost_nano > 0n);
  // An account that has just begun has no week behind it.
  const first_ms = rows[0]?.start_ms ?? from_ms;
  const lasted_ms = Math.max(Math.floor(to_ms - first_ms), DAY_MS);
  const daily_nano = (sumOf(rows).cost_nano * BigInt(DAY_MS)) / BigInt(lasted_ms);
  return { daily_nano, days: daysLeft(balance_nano - held_nano, daily_nano) };
}
