import { formatDollars } from '../lib/money.js';
import type { ProfitQuery } from '../schema-types/profit-query.js';
import type { Dimension, TotalsRow } from '../store/requests/request-types.js';
import type { Store } from '../store/store-types.js';
import { oneAction } from './action.js';
import { csv } from './csv.js';
import { dayName } from './days.js';
import { PROFIT_COLUMNS, profitShape, type Earnings } from './profit-shapes.js';
import { usageRange, type UsageRange } from './usage-groups.js';

/** How profit is split: each is a row of the totals of days, of which there are few. */
export const PROFIT_SPLITS = ['day', 'model', 'provider', 'account'] as const;
export type ProfitSplit = (typeof PROFIT_SPLITS)[number];

const DIMENSIONS = {
  day: 'start_ms',
  model: 'model',
  provider: 'provider',
  account: 'account_id',
} as const satisfies Record<ProfitSplit, Dimension>;

const AMOUNTS = ['cost_nano', 'uncollected_nano', 'upstream_cost_nano', 'profit_nano'] as const;

/** What a day, a model, a provider or an account brought. */
export interface ProfitGroup extends Earnings {
  /** Its day, its ID or its name; empty for calls without one. */
  group: string;
  /** The name of an account. */
  name?: string;
  calls: number;
  uncollected_nano: bigint;
}

export interface Profit {
  range: UsageRange;
  by: ProfitSplit;
  /** Days in order; others by falling profit. */
  groups: ProfitGroup[];
  totals: ProfitGroup;
}

export const showProfit = oneAction({
  name: 'profit show',
  schema: 'profit-query',
  async run({ store, now }, { from, to, by = 'day' }: ProfitQuery): Promise<Profit> {
    const range = usageRange({ from, to }, now());
    const rows = await store.requests.totals({
      ...range,
      period: 'day',
      by: [DIMENSIONS[by]],
      figures: AMOUNTS,
    });
    const names = by === 'account' ? await accountNames(store) : undefined;
    const groups = rows.map((row) => groupOf(row, by, names));
    const totals = groups.reduce(addGroup, { ...NOTHING });
    return { range, by, groups: by === 'day' ? groups : groups.toSorted(byProfit), totals };
  },
  routes: [
    {
      method: 'GET',
      path: '/api/profit',
      scope: 'usage:read',
      id: 'getProfit',
      summary: 'Get what all accounts paid, what upstreams took of it, and the profit',
      status: 200,
      answer: 'Profit',
    },
  ],
  answer: ({ range: { from, to }, by, groups, totals }) => ({
    from,
    to,
    by,
    data: groups.map((group) => ({ ...headOf(group, by), ...figuresOf(group) })),
    totals: figuresOf(totals),
  }),
  csv({ range, by, groups }, { format }) {
    if (format !== 'csv') return undefined;
    const columns = ['calls', 'cost', 'uncollected', ...PROFIT_COLUMNS] as const;
    const rows = groups.map((group) => {
      const figures = figuresOf(group);
      return [...Object.values(headOf(group, by)), ...columns.map((name) => figures[name])];
    });
    const head = by === 'account' ? ['account', 'name'] : [by];
    const file = `profit-${range.from}-${range.to}-${by}.csv`;
    return { file, text: csv([...head, ...columns], rows) };
  },
});

const NOTHING: ProfitGroup = {
  group: '',
  calls: 0,
  cost_nano: 0n,
  uncollected_nano: 0n,
  upstream_cost_nano: 0n,
  profit_nano: 0n,
};

async function accountNames(store: Store): Promise<ReadonlyMap<string, string>> {
  return new Map((await store.accounts()).map(({ id, name }) => [id, name]));
}

function groupOf(
  row: TotalsRow,
  by: ProfitSplit,
  names: ReadonlyMap<string, string> | undefined,
): ProfitGroup {
  const { start_ms = 0, account_id = '', calls } = row;
  const group: ProfitGroup = { ...NOTHING, calls };
  for (const name of AMOUNTS) group[name] = row[name];
  if (by === 'day') return { ...group, group: dayName(start_ms) };
  if (by !== 'account') return { ...group, group: row[by] ?? '' };
  return { ...group, group: account_id, name: names?.get(account_id) ?? account_id };
}

function addGroup(sum: ProfitGroup, group: ProfitGroup): ProfitGroup {
  sum.calls += group.calls;
  for (const name of AMOUNTS) sum[name] += group[name];
  return sum;
}

function byProfit(a: ProfitGroup, b: ProfitGroup): number {
  if (a.profit_nano !== b.profit_nano) return a.profit_nano < b.profit_nano ? 1 : -1;
  return a.cost_nano < b.cost_nano ? 1 : -1;
}

function headOf({ group, name }: ProfitGroup, by: ProfitSplit): Record<string, string> {
  return by === 'account' ? { account: group, name: name ?? group } : { [by]: group };
}

function figuresOf(group: ProfitGroup) {
  return {
    calls: group.calls,
    cost: formatDollars(group.cost_nano),
    uncollected: formatDollars(group.uncollected_nano),
    ...profitShape(group),
  };
}
