import { formatDollars } from '../lib/money.js';
import { csv } from './csv.js';
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

/** The figures of a group as JSON, with money in decimal digits. */
export type FiguresShape = Omit<UsageFigures, 'cost_nano' | 'saved_nano' | 'lost_nano'> &
  Record<'cost' | 'saved' | 'lost', string>;

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

/** `keys` are the account's, for their names; needed for usage by key. */
export function usageShape(
  usage: Usage,
  { from, to }: UsageRange,
  by: Grouping,
  keys: Names,
): UsageShape {
  const data = usage.groups.map((group) =>
    Object.assign(headOf(group, by, keys), figuresOf(group)),
  );
  return { from, to, by, data, totals: figuresOf(usage.totals) };
}

/** The rows as CSV, without the totals, which a spreadsheet can compute. */
export function usageCsv(usage: Usage, by: Grouping, keys: Names): string {
  const columns = by === 'key' ? ['key', 'name'] : [by];
  const rows = usage.groups.map((group) => {
    const head = headOf(group, by, keys);
    const figures = figuresOf(group);
    return [...Object.values(head), ...FIGURES.map((name) => figures[name])];
  });
  return csv([...columns, ...FIGURES], rows);
}

function headOf({ group }: UsageGroup, by: Grouping, keys: Names): Record<string, string | null> {
  if (by === 'agent') return { agent: group };
  if (by !== 'key') return { [by]: group ?? '' };
  return { key: group, name: keys.find(({ id }) => id === group)?.name ?? null };
}

function figuresOf(figures: UsageFigures): FiguresShape {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, figures[name]] as const)) as Record<
    (typeof COUNTS)[number],
    number
  >;
  return {
    ...counts,
    cost: formatDollars(figures.cost_nano),
    saved: formatDollars(figures.saved_nano),
    lost: formatDollars(figures.lost_nano),
  };
}
