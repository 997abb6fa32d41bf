import type { UsageRange } from '../views/usage.js';
import type { UsageRow } from '../../store/ledger/usage.js';

/** The number of models with a colour of their own; the others share the last one. */
const COLOURS = 6;
const OTHERS = 'Other models';

export interface ModelSpend {
  name: string;
  /** The index of its colour; the last one is shared. */
  series: number;
  nano: bigint;
}

export interface DaySpend {
  /** `2026-11-21`, in UTC. */
  day: string;
  nano: bigint;
  /** The cost of each model on this day, in the same order every day. */
  parts: readonly ModelSpend[];
}

export interface Spend {
  nano: bigint;
  calls: number;
  models: readonly ModelSpend[];
  days: readonly DaySpend[];
}

/** The data of the charts for a range of days, days without a call included. */
export function spendOf(rows: readonly UsageRow[], range: UsageRange): Spend {
  const models = modelsOf(rows);
  const seriesByModel = new Map(models.map(({ name, series }) => [name, series]));
  const byDay = new Map(daysOf(range).map((day) => [day, new Map<number, bigint>()]));
  for (const { day, model, cost_nano } of rows) {
    const series = seriesByModel.get(model) ?? COLOURS;
    const parts = byDay.get(day);
    parts?.set(series, (parts.get(series) ?? 0n) + cost_nano);
  }
  return {
    nano: models.reduce((sum, { nano }) => sum + nano, 0n),
    calls: rows.reduce((sum, row) => sum + row.calls, 0),
    models,
    days: [...byDay].map(([day, costs]) => dayOf(day, costs, models)),
  };
}

/** Models by falling cost; those beyond the colours are summed as one. */
function modelsOf(rows: readonly UsageRow[]): ModelSpend[] {
  const costs = new Map<string, bigint>();
  for (const { model, cost_nano } of rows) {
    costs.set(model, (costs.get(model) ?? 0n) + cost_nano);
  }
  const sorted = [...costs].sort(([, a], [, b]) => (a === b ? 0 : a > b ? -1 : 1));
  const own = sorted.slice(0, COLOURS).map(([name, nano], series) => ({ name, series, nano }));
  const others = sorted.slice(COLOURS).reduce((sum, [, nano]) => sum + nano, 0n);
  return sorted.length > COLOURS ? [...own, { name: OTHERS, series: COLOURS, nano: others }] : own;
}

function dayOf(
  day: string,
  costs: ReadonlyMap<number, bigint>,
  models: readonly ModelSpend[],
): DaySpend {
  const parts = models
    .map(({ name, series }) => ({ name, series, nano: costs.get(series) ?? 0n }))
    .filter(({ nano }) => nano > 0n);
  return { day, nano: parts.reduce((sum, { nano }) => sum + nano, 0n), parts };
}

const DAY_MS = 86_400_000;

function daysOf({ from_ms, to_ms }: UsageRange): string[] {
  return Array.from({ length: (to_ms - from_ms) / DAY_MS }, (_none, at) =>
    new Date(from_ms + at * DAY_MS).toISOString().slice(0, 10),
  );
}

const STEPS = [1n, 2n, 5n];

/** A round amount at or above the value, and the amounts of the grid lines up to it. */
export function ceiling(most_nano: bigint): { nano: bigint; ticks: bigint[] } {
  for (let unit = 1n; ; unit *= 10n) {
    const step = STEPS.map((times) => times * unit).find((size) => size * 4n >= most_nano);
    if (step === undefined) continue;
    const count = most_nano === 0n ? 1n : (most_nano + step - 1n) / step;
    const ticks = Array.from({ length: Number(count) + 1 }, (_none, at) => step * BigInt(at));
    return { nano: step * count, ticks };
  }
}
