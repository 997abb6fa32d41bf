import { label, type Source } from './source.js';

const MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
/** The maximum of a duration that has no other. A timer of Node counts 31 bits of ms, 24 days. */
const LONGEST_MS = 86_400_000;

/** The default of a value, and its bounds. */
export interface Bounds {
  default: number;
  min: number;
  max?: number;
}

/** Milliseconds of `500ms`, `30s`, `2m`, `1h` or `30d`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (MS[unit] ?? NaN));
}

/** Bytes of `64kb`, `20mb` or `1gb`; undefined for anything else. */
export function parseSize(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d+)(b|kb|mb|gb)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (BYTES[unit] ?? NaN);
}

/** Reads a duration in ms. One that is out of bounds is a fault. */
export function readDuration(
  source: Source,
  pointer: string,
  text: string | undefined,
  bounds: Bounds,
): number {
  const ms = text === undefined ? undefined : parseDuration(text);
  return within(source, pointer, ms, { max: LONGEST_MS, ...bounds, units: MS });
}

/** Reads a size in bytes. One that is out of bounds is a fault. */
export function readSize(
  source: Source,
  pointer: string,
  text: string | undefined,
  bounds: Bounds,
): number {
  const bytes = text === undefined ? undefined : parseSize(text);
  return within(source, pointer, bytes, { max: 1024 ** 4, ...bounds, units: BYTES });
}

function within(
  source: Source,
  pointer: string,
  value: number | undefined,
  { default: fallback, min, max, units }: Bounds & { max: number; units: Record<string, number> },
): number {
  if (value === undefined) return fallback;
  if (value >= min && value <= max) return value;
  const small = value < min;
  source.fault(pointer, {
    code: 'out_of_range',
    message: `${label(pointer)}: ${source.word(pointer)} is too ${small ? 'small' : 'large'}`,
    hint: small ? smallHint(source, pointer, min, units) : `at most ${show(max, units)}`,
  });
  return fallback;
}

/** The least value. A time of some `m` where hours are needed is most likely one of months. */
function smallHint(
  source: Source,
  pointer: string,
  min: number,
  units: Record<string, number>,
): string {
  const [, months] = /^(\d{1,2})m$/.exec(source.text(pointer) ?? '') ?? [];
  const least = `at least ${show(min, units)}`;
  if (months === undefined || units !== MS || min < 3_600_000 || source.hides(pointer))
    return least;
  return `m stands for minutes: for months write ${Number(months) * 30}d`;
}

/** In the largest unit that needs no fraction. */
function show(value: number, units: Record<string, number>): string {
  const fitting = Object.entries(units).filter(([, size]) => value % size === 0);
  const [unit, size] = fitting.at(-1) ?? ['', 1];
  return `${value / size}${unit}`;
}
