import { GatewayError } from '../core/errors.js';
import type { UsageQuery } from '../schema-types/usage-query.js';
import type { Key } from '../store/keys/keys.js';
import { oneAction } from './action.js';
import {
  groupUsage,
  splitOf,
  usageRange,
  type Grouping,
  type Usage,
  type UsageRange,
} from './usage-groups.js';
import { usageCsv, usageShape } from './usage-shapes.js';

interface AccountUsage {
  usage: Usage;
  range: UsageRange;
  by: Grouping;
  /** For the names of usage by key. */
  keys: readonly Key[];
}

export const showUsage = oneAction({
  name: 'usage show',
  schema: 'usage-query',
  async run(
    { store, now },
    { account_id, from, to, by = 'day', model, key, agent }: UsageQuery & { account_id: string },
    { key_id: own_key_id },
  ): Promise<AccountUsage> {
    const key_id = key ?? own_key_id;
    if (own_key_id !== undefined && key_id !== own_key_id) {
      throw new GatewayError('forbidden', 'An API key reads its own usage only.');
    }
    const range = usageRange({ from, to }, now());
    const only = { model, key_id, agent };
    const rows = await store.usage(account_id, range, splitOf(by, only));
    const usage = groupUsage(rows, by, only);
    return { usage, range, by, keys: by === 'key' ? await store.keys(account_id) : [] };
  },
  routes: [
    {
      method: 'GET',
      path: '/api/usage',
      takes_keys: true,
      id: 'getUsage',
      summary: 'Get usage, cost and what caches saved, by day, model, key or agent',
      status: 200,
      answer: 'Usage',
    },
    {
      method: 'GET',
      path: '/api/accounts/:accountID/usage',
      scope: 'usage:read',
      id: 'getAccountUsage',
      summary: 'Get the usage of an account, its cost and what caches saved, as its own users do',
      status: 200,
      answer: 'Usage',
    },
  ],
  answer: ({ usage, range, ...shown }, { is_operator }) =>
    usageShape(usage, range, { ...shown, has_profit: is_operator }),
  csv({ usage, range, ...shown }, { format }, { is_operator }) {
    if (format !== 'csv') return undefined;
    const text = usageCsv(usage, { ...shown, has_profit: is_operator });
    return { file: `usage-${range.from}-${range.to}-${shown.by}.csv`, text };
  },
});
