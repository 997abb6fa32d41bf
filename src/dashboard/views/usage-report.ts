import type { Account } from '../../store/accounts/accounts.js';
import type { LatencyRow, RequestTotals, TotalsRow } from '../../store/requests/request-types.js';
import { TOKEN_CLASSES } from '../../core/usage.js';
import type { DashboardServices } from '../types.js';
import { DAY_MS, dayName } from '../../actions/days.js';
import type { Span } from '../../actions/moments.js';
import { daysLeft, sumTotals } from './traffic.js';
import { usageRange, type Grouping, type UsageRange } from '../../actions/usage-groups.js';

const HOUR_MS = 3_600_000;
/** Ranges shorter than this are shown by the hour. */
const BY_HOUR_MS = 3 * DAY_MS;
/** Details that only hourly totals have are shown for at most this many days. */
const DETAILED_DAYS = 31;
/** The most hourly rows that one page sums up, and the most that it skips. */
const DETAILED_ROWS = 20_000;
const SKIPPED_ROWS = 100_000;
const PACE_DAYS = 7;
const COMPARED = ['failed', 'prompt_tokens', 'completion_tokens', 'cost_nano'] as const;
/** The figures of the table. */
const TABLED = [...COMPARED, ...TOKEN_CLASSES] as const;
const SPLITS = { day: 'start_ms', model: 'model', key: 'key_id', agent: 'agent' } as const;

/** Days of UTC as `YYYY-MM-DD`, both included; without them the last 30 days. */
export interface UsageReportQuery {
  account_id: string;
  from?: string | undefined;
  to?: string | undefined;
  model?: string | undefined;
  key_id?: string | undefined;
  agent?: string | undefined;
  /** The groups of the table. */
  by: Grouping;
  /** The figures of the chart; without them there are no rows for one. */
  charted?: readonly (keyof RequestTotals)[] | undefined;
}

export interface UsageReport {
  range: UsageRange;
  /** Whether the range was cut to the last days that have details. */
  is_cut: boolean;
  /** The length of one bar in the charts. */
  period: 'hour' | 'day';
  /** Whether the rows come from daily or from hourly totals. */
  source: 'hour' | 'day';
  /** The rows of the table, of one group each. */
  rows: TotalsRow[];
  /** By start and by model; without models where a key is read from daily totals. */
  bars: TotalsRow[];
  totals: RequestTotals;
  latency: LatencyRow | undefined;
  /** The totals of the range before, as long as this one has lasted so far. */
  before: { totals: RequestTotals; latency: LatencyRow | undefined };
}

type Services = Pick<DashboardServices, 'store' | 'now'>;

/** Reports the usage of an account in a range of days, and in the range before. */
export async function usageReport(
  query: UsageReportQuery,
  services: Services,
): Promise<UsageReport> {
  const { account_id, model, key_id, agent, by, charted } = query;
  const { requests } = services.store;
  const { range, source, is_cut } = await sourceOf(query, services);
  const filter = {
    account_id,
    ...(model !== undefined && { model }),
    ...(key_id !== undefined && { key_id }),
    ...(agent !== undefined && { agent }),
  };
  const isLong = range.to_ms - range.from_ms > DETAILED_DAYS * DAY_MS;
  const unit = isLong ? ('day' as const) : ('hour' as const);
  const past = spanBefore(range, services.now(), isLong ? DAY_MS : HOUR_MS);
  const latencyOf = async (span: Span): Promise<LatencyRow | undefined> => {
    const days = isLong && ({ period: 'day' } as const);
    return (await requests.latencies({ ...span, ...days, account_id, by: [] }))[0];
  };
  // Daily totals of a key do not have its models.
  const split = source === 'day' && key_id !== undefined ? [] : (['model'] as const);
  const period = source === 'hour' && isShort(range) ? 'hour' : 'day';
  const shown = {
    ...filter,
    ...range,
    period: source,
    ...(period === 'day' && ({ step: 'day' } as const)),
  };
  const [rows, bars, before, latency, latencyBefore] = await Promise.all([
    requests.totals({ ...shown, by: [SPLITS[by]], figures: TABLED }),
    charted ? requests.totals({ ...shown, by: ['start_ms', ...split], figures: charted }) : [],
    requests.totals({ ...filter, ...past, period: unit, by: [], figures: COMPARED }),
    latencyOf(range),
    latencyOf(past),
  ]);
  return {
    range,
    is_cut,
    period,
    source,
    rows,
    bars,
    totals: sumTotals(rows),
    latency,
    before: { totals: sumTotals(before), latency: latencyBefore },
  };
}

function isShort({ from_ms, to_ms }: Span): boolean {
  return to_ms - from_ms < BY_HOUR_MS;
}

/**
 * Chooses between daily and hourly totals. Daily totals have few rows, but group by model or by
 * key, never by both. A query about both reads hourly totals, and its range is cut to the last days
 * that have few enough of them.
 */
async function sourceOf(
  query: UsageReportQuery,
  services: Services,
): Promise<Pick<UsageReport, 'range' | 'source' | 'is_cut'>> {
  const { model, key_id, by } = query;
  const range = usageRange(query, services.now());
  const isOfBoth =
    key_id === undefined
      ? by === 'key' && model !== undefined
      : by === 'model' || model !== undefined;
  const whole = { range, source: 'day', is_cut: false } as const;
  if (!isOfBoth && key_id === undefined && !isShort(range)) return whole;
  const detailed_ms = await detailedFrom(range, query, services);
  if (detailed_ms <= range.from_ms) return { ...whole, source: 'hour' };
  if (!isOfBoth) return whole;
  const from_ms = Math.min(detailed_ms, range.to_ms - DAY_MS);
  const is_cut = from_ms > range.from_ms;
  return { range: { ...range, from: dayName(from_ms), from_ms }, source: 'hour', is_cut };
}

/**
 * The beginning of the last days that together have few enough hourly rows; the end of the range if
 * even its last day has too many.
 */
async function detailedFrom(
  { from_ms, to_ms }: Span,
  { account_id, model, key_id }: UsageReportQuery,
  { store: { requests } }: Services,
): Promise<number> {
  const first_ms = Math.max(from_ms, to_ms - DETAILED_DAYS * DAY_MS);
  // The rows of an hour are sorted by key and then by model.
  const isSkipping = key_id === undefined && model !== undefined;
  const only = key_id === undefined ? {} : { key_id, ...(model !== undefined && { model }) };
  let left = isSkipping ? SKIPPED_ROWS : DETAILED_ROWS;
  for (let day_ms = to_ms - DAY_MS; day_ms >= first_ms; day_ms -= DAY_MS) {
    const day = { account_id, ...only, from_ms: day_ms, to_ms: day_ms + DAY_MS };
    left -= await requests.hourRows(day, left + 1);
    if (left < 0) return day_ms + DAY_MS;
  }
  return first_ms;
}

/** The span before the range, as long as the range has lasted until now, in whole units. */
function spanBefore({ from_ms, to_ms }: Span, now_ms: number, unit_ms: number): Span {
  const lasted_ms = Math.max(Math.min(to_ms, now_ms) - from_ms, unit_ms);
  return { from_ms: from_ms - Math.ceil(lasted_ms / unit_ms) * unit_ms, to_ms: from_ms };
}

/** The daily spend of an account in its last week, and the days that its credit lasts at that. */
export interface Pace {
  daily_nano: bigint;
  days: number | undefined;
}

/** The pace of an account; its `days` are undefined if it spent nothing. */
export async function paceOf(
  { id, balance_nano, held_nano }: Account,
  { store: { requests }, now }: Services,
): Promise<Pace> {
  const to_ms = now();
  const from_ms = Math.floor(to_ms / DAY_MS - PACE_DAYS + 1) * DAY_MS;
  const days = { from_ms, to_ms, period: 'day', account_id: id } as const;
  const query = { ...days, by: ['start_ms'], figures: ['cost_nano'] } as const;
  const rows = (await requests.totals(query)).filter(({ cost_nano }) => cost_nano > 0n);
  // A new account has spent for less than a week.
  const first_ms = rows[0]?.start_ms ?? from_ms;
  const lasted_ms = Math.max(Math.floor(to_ms - first_ms), DAY_MS);
  const daily_nano = (sumTotals(rows).cost_nano * BigInt(DAY_MS)) / BigInt(lasted_ms);
  return { daily_nano, days: daysLeft(balance_nano - held_nano, daily_nano) };
}
