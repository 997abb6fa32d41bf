import type { LatencyRow, RequestTotals, TotalsRow } from '../../store/requests/request-types.js';
import type { DashboardServices } from '../types.js';
import type { Span } from '../../actions/moments.js';
import { groupTotals, NO_CALLS, ownFailures } from './traffic.js';

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** The most rows of one page. */
const MAX_ROWS = 200;

/** One hour of an upstream's history. */
export interface HistoryHour {
  start_ms: number;
  calls: number;
  failed: number;
}

/** A model at a provider, with how its calls of the last day have ended. */
export interface UpstreamHistory {
  provider: string;
  model: string;
  totals: RequestTotals;
  took: LatencyRow['took'];
  first_token: LatencyRow['first_token'];
  /** 24 hours, the present one last. */
  hours: HistoryHour[];
}

/** The upstreams of the current configuration and all others that had calls, the worst first. */
export async function upstreamHistories({
  store: { requests },
  configuration,
  now,
}: Pick<DashboardServices, 'store' | 'configuration' | 'now'>): Promise<{
  span: Span;
  data: UpstreamHistory[];
}> {
  const to_ms = now();
  const from_ms = (Math.floor(to_ms / HOUR_MS) - HOURS + 1) * HOUR_MS;
  const span = { from_ms, to_ms };
  const [rows, latencies] = await Promise.all([
    requests.totals({ ...span, period: 'hour', by: ['start_ms', 'provider', 'model', 'status'] }),
    requests.latencies({ ...span, by: ['provider', 'model'] }),
  ]);
  const named = ownFailures(rows).filter(({ provider, model }) => provider && model);
  const byName = new Map(named.map((row) => [nameOf(row), [] as TotalsRow[]]));
  for (const row of named) byName.get(nameOf(row))?.push(row);
  for (const { id, upstreams } of configuration.models.values()) {
    for (const { provider } of upstreams) {
      const name = nameOf({ provider: provider.name, model: id });
      if (!byName.has(name)) byName.set(name, []);
    }
  }
  const latencyByName = new Map(latencies.map((row) => [nameOf(row), row]));
  const data = [...byName].map(([name, hours]) => historyOf(name, hours, latencyByName, from_ms));
  return { span, data: data.sort(worstFirst).slice(0, MAX_ROWS) };
}

function historyOf(
  name: string,
  rows: readonly TotalsRow[],
  latencies: ReadonlyMap<string, LatencyRow>,
  from_ms: number,
): UpstreamHistory {
  const [provider = '', model = ''] = JSON.parse(name) as string[];
  const [all] = groupTotals(rows, () => name);
  const byStart = new Map(
    groupTotals(rows, ({ start_ms }) => start_ms).map((hour) => [hour.name, hour.totals]),
  );
  const latency = latencies.get(name);
  return {
    provider,
    model,
    totals: all?.totals ?? { ...NO_CALLS },
    took: latency?.took ?? null,
    first_token: latency?.first_token ?? null,
    hours: Array.from({ length: HOURS }, (_, at) => {
      const start_ms = from_ms + at * HOUR_MS;
      const { calls = 0, failed = 0 } = byStart.get(start_ms) ?? {};
      return { start_ms, calls, failed };
    }),
  };
}

function nameOf({ provider, model }: { provider?: string; model?: string }): string {
  return JSON.stringify([provider, model]);
}

function worstFirst(a: UpstreamHistory, b: UpstreamHistory): number {
  const share = ({ totals }: UpstreamHistory): number => totals.failed / (totals.calls || 1);
  return share(b) - share(a) || b.totals.calls - a.totals.calls;
}
