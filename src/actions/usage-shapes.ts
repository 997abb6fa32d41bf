import { formatDollars } from '../lib/money.js';
import { csv } from './csv.js';
import { PROFIT_COLUMNS, profitShape, type ProfitShape } from './profit-shapes.js';
import {
  COUNTS,
  type Grouping,
  type Usage,
  type UsageGroup,
  type UsageRange,
} from './usage-groups.js';
import type { UsageFigures } from '../store/ledger/usage.js';
import type { Key } from '../store/keys/keys.js';

type Names = readonly Pick<Key, 'id' | 'name'>[];

/** The figures of a group as JSON, with money in decimal digits. The profit is for operators. */
export type FiguresShape = Pick<UsageFigures, (typeof COUNTS)[number]> &
  Record<'cost' | 'saved' | 'lost', string> &
  Partial<ProfitShape>;

/** A row has its day, its model, its key with the key's name, or its agent. */
export type UsageRowShape = FiguresShape & {
  day?: string;
  model?: string;
  key?: string | null;
  name?: string | null;
  agent?: string | null;
};

export interface UsageShape {
  from: string;
  to: string;
  by: Grouping;
  data: UsageRowShape[];
  totals: FiguresShape;
}

const FIGURES = [...COUNTS, 'cost', 'saved', 'lost'] as const;

/** How usage is shown. */
interface Showing {
  by: Grouping;
  /** The account's, for the names of usage by key. */
  keys: Names;
  has_profit: boolean;
}

export function usageShape(usage: Usage, { from, to }: UsageRange, showing: Showing): UsageShape {
  const { by, has_profit } = showing;
  const data = usage.groups.map((group) =>
    Object.assign(headOf(group, showing), figuresOf(group, has_profit)),
  );
  return { from, to, by, data, totals: figuresOf(usage.totals, has_profit) };
}

/** The rows as CSV, without the totals, which a spreadsheet can compute. */
export function usageCsv(usage: Usage, showing: Showing): string {
  const { by, has_profit } = showing;
  const columns = by === 'key' ? ['key', 'name'] : [by];
  const names = [...FIGURES, ...(has_profit ? PROFIT_COLUMNS : [])];
  const rows = usage.groups.map((group) => {
    const figures = figuresOf(group, has_profit);
    return [
      ...Object.values(headOf(group, showing)),
      ...names.map((name) => figures[name] ?? null),
    ];
  });
  return csv([...columns, ...names], rows);
}

function headOf(
  { group }: UsageGroup,
  { by, keys }: Pick<Showing, 'by' | 'keys'>,
): Record<string, string | null> {
  if (by === 'agent') return { agent: group };
  if (by !== 'key') return { [by]: group ?? '' };
  return { key: group, name: keys.find(({ id }) => id === group)?.name ?? null };
}

function figuresOf(figures: UsageFigures, has_profit: boolean): FiguresShape {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, figures[name]] as const)) as Record<
    (typeof COUNTS)[number],
    number
  >;
  return {
    ...counts,
    cost: formatDollars(figures.cost_nano),
    saved: formatDollars(figures.saved_nano),
    lost: formatDollars(figures.lost_nano),
    ...(has_profit && profitShape(figures)),
  };
}
