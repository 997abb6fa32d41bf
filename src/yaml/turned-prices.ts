import type { ErrorObject } from 'ajv/dist/2020.js';
import { isRecord } from '../lib/objects.js';
import type { Explained } from './misplaced.js';
import { flow, type Part } from './schema-walk.js';
import { pointer as join, segments, type Source } from './source.js';
import { extraKey } from './unknown-keys.js';

interface Kinds {
  outer: RegExp;
  inner: RegExp;
  message: string;
}

/** Prices by two things: what stands outside, and what within it. */
const UNITS: Readonly<Record<string, Kinds>> = {
  per_image: {
    outer: /^(?:low|standard|medium|hd|high)$/,
    inner: /^\d+x\d+$/,
    message: 'per_image: the qualities stand outside, and the sizes within them',
  },
  per_video_second: {
    outer: /^(?:\d+p|4k)$/,
    inner: /^(?:silent|audio)$/,
    message: 'per_video_second: the resolutions stand outside, silent and audio within them',
  },
};

/**
 * The faults in place of an error in prices that are nested the other way round; undefined for any
 * other error. The first of several such errors has the fault for all.
 */
export function turnedPrices(error: ErrorObject, source: Source): Explained[] | undefined {
  const extra = extraKey(error);
  const path = [...segments(error.instancePath), ...(extra === undefined ? [] : [extra])];
  const at = path.findIndex((key) => Object.hasOwn(UNITS, key));
  const unit = path[at] ?? '';
  const key = path[at + 1];
  const kinds = UNITS[unit];
  if (!kinds || key === undefined || !kinds.inner.test(key)) return undefined;
  const place = join(...path.slice(0, at + 1));
  const block = source.valueAt(place);
  if (!isRecord(block) || !isTurned(block, kinds)) return undefined;
  if (Object.keys(block)[0] !== key) return [];
  const isHidden = source.hidesWithin(place);
  const hint = isHidden
    ? 'put the outer keys within the inner ones'
    : `write ${unit}: ${flow(turned(block))}`;
  return [
    {
      pointer: place + join(key),
      wrong: { code: 'wrong_value', message: kinds.message, hint, at: 'key' },
    },
  ];
}

function isTurned(block: Part, { outer, inner }: Kinds): boolean {
  return Object.entries(block).every(
    ([key, value]) =>
      inner.test(key) && isRecord(value) && Object.keys(value).every((one) => outer.test(one)),
  );
}

/** A block of blocks with its outer keys within the inner ones. */
function turned(block: Part): Record<string, Record<string, unknown>> {
  const made: Record<string, Record<string, unknown>> = {};
  for (const [key, values] of Object.entries(block)) {
    for (const [name, value] of Object.entries(isRecord(values) ? values : {})) {
      made[name] = { ...made[name], [key]: value };
    }
  }
  return made;
}
