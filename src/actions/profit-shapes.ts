import { formatDollars } from '../lib/money.js';
import type { UsageFigures } from '../store/ledger/usage.js';

/** What accounts paid, what upstreams took of it, and the rest, where that is known. */
export type Earnings = Pick<UsageFigures, 'cost_nano' | 'upstream_cost_nano' | 'profit_nano'>;

/** Earnings as JSON, for operators only. Null where nothing of it is known. */
export interface ProfitShape {
  upstream_cost: string | null;
  profit: string | null;
  /** The part of `cost` of calls of which it is not known what the upstream took. */
  cost_unknown: string;
}

/** The names of `ProfitShape`, as columns of a file. */
export const PROFIT_COLUMNS = [
  'upstream_cost',
  'profit',
  'cost_unknown',
] as const satisfies readonly (keyof ProfitShape)[];

/** What was paid for calls of which it is not known what the upstream took. */
export function unknownCost({ cost_nano, upstream_cost_nano, profit_nano }: Earnings): bigint {
  return cost_nano - upstream_cost_nano - profit_nano;
}

/** Whether it is known of none of the calls that were paid. */
export function isProfitUnknown({ cost_nano, upstream_cost_nano, profit_nano }: Earnings): boolean {
  return cost_nano !== 0n && upstream_cost_nano === 0n && profit_nano === 0n;
}

export function profitShape(earnings: Earnings): ProfitShape {
  const isUnknown = isProfitUnknown(earnings);
  return {
    upstream_cost: isUnknown ? null : formatDollars(earnings.upstream_cost_nano),
    profit: isUnknown ? null : formatDollars(earnings.profit_nano),
    cost_unknown: formatDollars(unknownCost(earnings)),
  };
}

/** The same of one charge or request; `cost_nano` is what the upstream takes, if it is known. */
export function profitOfOne(
  paid_nano: bigint,
  cost_nano: bigint | null,
): { cost: string | null; profit: string | null } {
  if (cost_nano === null) return { cost: null, profit: null };
  return { cost: formatDollars(cost_nano), profit: formatDollars(paid_nano - cost_nano) };
}
