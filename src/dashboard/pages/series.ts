import type { LatencyRow, RequestTotals, TotalsRow } from '../../store/requests/request-types.js';
import type { Span } from '../../actions/moments.js';
import { formatDay, formatAmount, formatCount, formatMs } from './formatting.js';

/** The number of names with a colour of their own; the others share the last one. */
const COLOURS = 6;
const OTHERS = 'Others';
const NAMELESS = 'All models';

export const MEASURES = ['spend', 'calls', 'tokens', 'errors', 'latency'] as const;
export type Measure = (typeof MEASURES)[number];

/** One part of a bar. The value is a count, nano-dollars or ms, depending on the measure. */
export interface Part {
  name: string;
  /** The index of its colour; the last one is shared. */
  series: number;
  value: number;
}

export interface Bar {
  start_ms: number;
  value: number;
  /** On top of each other, in the same order in every bar. */
  parts: readonly Part[];
}

/** The data of a chart, with a bar for each hour or day, even without a call. */
export interface Series {
  measure: Measure;
  period: 'hour' | 'day';
  bars: readonly Bar[];
  /** Sums by name; for the legend. */
  parts: readonly Part[];
}

export const PERIOD_MS = { hour: 3_600_000, day: 86_400_000 };

/** The figures that `valueOf` reads; latencies have rows of their own. */
export const FIGURES_OF = {
  spend: ['cost_nano'],
  calls: ['calls'],
  tokens: ['prompt_tokens', 'completion_tokens'],
  errors: ['failed'],
  latency: undefined,
} as const satisfies Record<Measure, readonly (keyof RequestTotals)[] | undefined>;

/** The figure of a measure. A latency is no sum: see `latencySeries`. */
export function valueOf(measure: Exclude<Measure, 'latency'>, totals: RequestTotals): number {
  if (measure === 'spend') return Number(totals.cost_nano);
  if (measure === 'calls') return totals.calls;
  if (measure === 'errors') return totals.failed;
  return totals.prompt_tokens + totals.completion_tokens;
}

/** A value in words. */
export function shownAs(measure: Measure, value: number): string {
  if (measure === 'spend') return formatAmount(BigInt(Math.round(value)));
  return measure === 'latency' ? formatMs(value) : formatCount(Math.round(value));
}

/** The bars of rows by start and model. Rows without a model are all of one name. */
export function seriesOf(
  measure: Exclude<Measure, 'latency'>,
  rows: readonly TotalsRow[],
  span: Span,
  period: Series['period'],
): Series {
  const parts = partsOf(rows, (row) => valueOf(measure, row));
  const seriesByName = new Map(parts.map(({ name, series }) => [name, series]));
  const byStart = new Map<number, Map<number, number>>(
    startsOf(span, period).map((start_ms) => [start_ms, new Map()]),
  );
  for (const row of rows) {
    const start_ms = startOf(row.start_ms ?? 0, period);
    const series = seriesByName.get(nameOf(row)) ?? COLOURS;
    const values = byStart.get(start_ms);
    values?.set(series, (values.get(series) ?? 0) + valueOf(measure, row));
  }
  const bars = [...byStart].map(([start_ms, values]) => barOf(start_ms, values, parts));
  return { measure, period, bars, parts };
}

/** Median and 95th percentile, one above the other, of rows by start. */
export function latencySeries(
  rows: readonly LatencyRow[],
  all: LatencyRow | undefined,
  span: Span,
  period: Series['period'],
): Series {
  const byStart = new Map(rows.map((row) => [row.start_ms, row]));
  const bars = startsOf(span, period).map((start_ms): Bar => {
    const parts = percentileParts(byStart.get(start_ms));
    return { start_ms, parts, value: parts.at(-1)?.value ?? 0 };
  });
  return { measure: 'latency', period, bars, parts: percentileParts(all) };
}

/** Each counts from zero: the later one is drawn behind the one before. */
function percentileParts(row: LatencyRow | undefined): Part[] {
  if (!row?.took) return [];
  return [
    { name: 'p50, the median', series: 0, value: row.took.p50_ms },
    { name: 'p95', series: 1, value: row.took.p95_ms },
  ];
}

/** The names by falling value; names beyond the colours are summed up as one. */
export function partsOf(rows: readonly TotalsRow[], value: (row: TotalsRow) => number): Part[] {
  const values = new Map<string, number>();
  for (const row of rows) {
    const name = nameOf(row);
    values.set(name, (values.get(name) ?? 0) + value(row));
  }
  const sorted = [...values].filter(([, one]) => one > 0).sort(([, a], [, b]) => b - a);
  const own = sorted
    .slice(0, COLOURS)
    .map(([name, one], series): Part => ({ name, series, value: one }));
  const others = sorted.slice(COLOURS).reduce((sum, [, one]) => sum + one, 0);
  return sorted.length > COLOURS ? [...own, { name: OTHERS, series: COLOURS, value: others }] : own;
}

function nameOf({ model }: TotalsRow): string {
  return model === undefined ? NAMELESS : model || 'no model';
}

function barOf(start_ms: number, values: ReadonlyMap<number, number>, all: readonly Part[]): Bar {
  const parts = all
    .map(({ name, series }) => ({ name, series, value: values.get(series) ?? 0 }))
    .filter(({ value }) => value > 0);
  return { start_ms, value: parts.reduce((sum, { value }) => sum + value, 0), parts };
}

function startOf(ms: number, period: Series['period']): number {
  return ms - (ms % PERIOD_MS[period]);
}

/** The beginnings of the hours or days of a range. */
export function startsOf({ from_ms, to_ms }: Span, period: Series['period']): number[] {
  const first_ms = startOf(from_ms, period);
  const count = Math.ceil((to_ms - first_ms) / PERIOD_MS[period]);
  return Array.from({ length: Math.max(count, 0) }, (_, at) => first_ms + at * PERIOD_MS[period]);
}

/** `21 Nov`, or `14:00` for an hour. */
export function startShown(start_ms: number, period: Series['period']): string {
  const iso = new Date(start_ms).toISOString();
  return period === 'day' ? formatDay(iso) : iso.slice(11, 16);
}

/** `21 Nov`, or `21 Nov, 14:00` for an hour. */
export function startInFull(start_ms: number, period: Series['period']): string {
  const day = formatDay(new Date(start_ms).toISOString());
  return period === 'day' ? day : `${day}, ${startShown(start_ms, period)}`;
}

const STEPS = [1, 2, 5];

/** A round value at or above the highest value, and the grid lines up to it. */
export function ceiling(highest: number): { top: number; ticks: number[] } {
  for (let unit = 1; ; unit *= 10) {
    const step = STEPS.map((times) => times * unit).find((size) => size * 4 >= highest);
    if (step === undefined) continue;
    const count = Math.max(1, Math.ceil(highest / step));
    const ticks = Array.from({ length: count + 1 }, (_none, at) => step * at);
    return { top: step * count, ticks };
  }
}
