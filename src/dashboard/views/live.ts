import type {
  LatencyRow,
  RequestTotals,
  TotalsQuery,
  TotalsRow,
} from '../../store/requests/request-types.js';
import type { OpenHolds } from '../../store/verify/open-holds.js';
import type { DashboardServices } from '../types.js';
import { DAY_MS } from '../../actions/days.js';
import type { Span } from '../../actions/moments.js';
import { groupTotals, ownFailures, sumTotals } from './traffic.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The ranges of the operator's overview. Totals begin with an hour, and for long ranges a day. */
export const RANGES = {
  hour: { name: 'Hour', length_ms: HOUR_MS, period: 'hour' },
  day: { name: 'Day', length_ms: DAY_MS, period: 'hour' },
  week: { name: 'Week', length_ms: 7 * DAY_MS, period: 'day' },
  month: { name: 'Month', length_ms: 30 * DAY_MS, period: 'day' },
} as const;

export type Range = keyof typeof RANGES;

/** The traffic of all accounts over a range up to now. */
export interface Live {
  range: Range;
  span: Span;
  period: 'hour' | 'day';
  /** All totals of this report have calls, failures, cost and the uncollected part of it. */
  totals: RequestTotals;
  calls_per_minute: number;
  /** Of the last day at most. */
  latency: LatencyRow | undefined;
  /** By start and model. */
  rows: TotalsRow[];
  upstreams: Upstream[];
  /** Of an hour, or of whole days. */
  accounts: { id: string; name: string; totals: RequestTotals }[];
  holds: OpenHolds;
}

/** The calls that ended at a model of a provider. */
export interface Upstream {
  provider: string;
  model: string;
  totals: RequestTotals;
}

const TOP = 5;
const FIGURES = ['failed', 'cost_nano', 'uncollected_nano'] as const;

/** Reports the traffic of all accounts over a range that ends now. */
export async function liveReport(range: Range, services: DashboardServices): Promise<Live> {
  const { store, now } = services;
  const { requests } = store;
  const { period } = RANGES[range];
  const span = spanOf(range, now());
  const totals = (by: TotalsQuery['by'], unit: TotalsQuery['period'] = period) =>
    requests.totals({ ...span, period: unit, by, figures: FIGURES });
  const [rows, upstreams, accounts, latencies, holds] = await Promise.all([
    totals(['start_ms', 'model']),
    totals(['provider', 'model', 'status']),
    // Hourly totals of all accounts would be very many rows.
    totals(['account_id'], range === 'hour' ? 'hour' : 'day'),
    requests.latencies({ ...span, from_ms: Math.max(span.from_ms, now() - DAY_MS), by: [] }),
    store.openHolds(),
  ]);
  const sum = sumTotals(rows);
  return {
    range,
    span,
    period,
    totals: sum,
    calls_per_minute: (sum.calls * MINUTE_MS) / (span.to_ms - span.from_ms),
    latency: latencies[0],
    rows,
    upstreams: worst(upstreams),
    accounts: await topAccounts(accounts, services),
    holds,
  };
}

/** From the hour or the day that the range begins in, up to now. */
export function spanOf(range: Range, now_ms: number): Span {
  const { length_ms, period } = RANGES[range];
  const unit_ms = period === 'hour' ? HOUR_MS : DAY_MS;
  const from_ms = now_ms - length_ms;
  return { from_ms: from_ms - (from_ms % unit_ms), to_ms: now_ms };
}

/** The upstreams with the largest share of failed calls, from rows by status. */
function worst(rows: readonly TotalsRow[]): Upstream[] {
  const share = ({ totals }: Upstream): number => totals.failed / totals.calls;
  const called = ownFailures(rows).filter(({ provider }) => provider);
  return groupTotals(called, ({ provider, model }) => JSON.stringify([provider, model]))
    .map(({ name, totals }) => {
      const [provider = '', model = ''] = JSON.parse(name) as string[];
      return { provider, model, totals };
    })
    .filter(({ totals }) => totals.failed > 0)
    .sort((a, b) => share(b) - share(a) || b.totals.failed - a.totals.failed)
    .slice(0, TOP);
}

async function topAccounts(
  rows: readonly TotalsRow[],
  { store }: DashboardServices,
): Promise<Live['accounts']> {
  const top = rows
    .toSorted((a, b) => Number(b.cost_nano - a.cost_nano) || b.calls - a.calls)
    .slice(0, TOP);
  return Promise.all(
    top.map(async (row) => {
      const id = row.account_id ?? '';
      return { id, name: (await store.account(id))?.name ?? id, totals: row };
    }),
  );
}
