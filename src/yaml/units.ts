import { label } from './schema-errors.js';
import type { Source } from './source.js';

const MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
/** Timers count in 31 bits; a day is more than any of them needs. */
const LONGEST_MS = 86_400_000;

/** What a value is where the file leaves it out, and the least that makes sense. */
export interface Bounds {
  standard: number;
  least: number;
  most?: number;
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

/** A duration of the file in ms. One that is out of bounds is a fault. */
export function readDuration(
  source: Source,
  pointer: string,
  text: string | undefined,
  bounds: Bounds,
): number {
  const ms = text === undefined ? undefined : parseDuration(text);
  return within(source, pointer, ms, { most: LONGEST_MS, ...bounds, units: MS });
}

/** A size of the file in bytes. One that is out of bounds is a fault. */
export function readSize(
  source: Source,
  pointer: string,
  text: string | undefined,
  bounds: Bounds,
): number {
  const bytes = text === undefined ? undefined : parseSize(text);
  return within(source, pointer, bytes, { most: 1024 ** 4, ...bounds, units: BYTES });
}

function within(
  source: Source,
  pointer: string,
  value: number | undefined,
  { standard, least, most, units }: Bounds & { most: number; units: Record<string, number> },
): number {
  if (value === undefined) return standard;
  if (value >= least && value <= most) return value;
  const small = value < least;
  source.fault(pointer, {
    code: 'out_of_range',
    message: `${label(pointer)}: ${source.word(pointer)} is too ${small ? 'small' : 'large'}`,
    hint: small ? `at least ${show(least, units)}` : `at most ${show(most, units)}`,
  });
  return standard;
}

/** In the largest unit that needs no fraction. */
function show(value: number, units: Record<string, number>): string {
  const fitting = Object.entries(units).filter(([, size]) => value % size === 0);
  const [unit, size] = fitting.at(-1) ?? ['', 1];
  return `${value / size}${unit}`;
}
