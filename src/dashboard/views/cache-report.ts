import type { RequestTotals } from '../../store/requests/request-types.js';
import { usageRange, type UsageRange } from '../../actions/usage-groups.js';
import type { DashboardServices } from '../types.js';
import { sumTotals } from './traffic.js';

/** How a report on caches is split. */
export const CACHE_SPLITS = ['model', 'key_id', 'agent'] as const;
export type CacheSplit = (typeof CACHE_SPLITS)[number];

/** The totals of a model, a key or an agent; the name is empty for calls without one. */
export interface CacheGroup {
  name: string;
  totals: RequestTotals;
}

export interface CacheReport {
  range: UsageRange;
  totals: RequestTotals;
  /** Those with tokens of input, by falling cost. */
  groups: Record<CacheSplit, CacheGroup[]>;
}

/** Reports what an account read from the caches of upstreams in a range of days. */
export async function cacheReport(
  query: { account_id: string; from?: string | undefined; to?: string | undefined },
  { store, now }: Pick<DashboardServices, 'store' | 'now'>,
): Promise<CacheReport> {
  const { account_id } = query;
  const range = usageRange(query, now());
  const groupsBy = async (split: CacheSplit): Promise<CacheGroup[]> => {
    const days = { ...range, account_id, period: 'day', by: [split] } as const;
    const rows = await store.requests.totals(days);
    return rows.map(({ [split]: name = '', ...totals }) => ({ name, totals })).sort(byCost);
  };
  const [model, key_id, agent] = await Promise.all([
    groupsBy('model'),
    groupsBy('key_id'),
    groupsBy('agent'),
  ]);
  const hasInput = ({ totals }: CacheGroup): boolean => totals.prompt_tokens > 0;
  return {
    range,
    totals: sumTotals(model.map(({ totals }) => totals)),
    groups: {
      model: model.filter(hasInput),
      key_id: key_id.filter(hasInput),
      agent: agent.filter(hasInput),
    },
  };
}

function byCost({ totals: a }: CacheGroup, { totals: b }: CacheGroup): number {
  if (a.cost_nano !== b.cost_nano) return a.cost_nano < b.cost_nano ? 1 : -1;
  return b.prompt_tokens - a.prompt_tokens;
}

/** The share of the input that was read from caches, from 0 to 1. */
export function cachedShare({ prompt_tokens, cached_tokens }: RequestTotals): number {
  return prompt_tokens > 0 ? cached_tokens / prompt_tokens : 0;
}
