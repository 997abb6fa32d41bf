import { isRecord } from '../lib/objects.js';

/** A hint for a key of another program: one for every value, or one for each shape that fits. */
export type ForeignHint = string | { text?: string; list?: string; block?: string };

/** The part of a hint that is for values of this shape. */
export function hintFor(hint: ForeignHint | undefined, value: unknown): string | undefined {
  if (typeof hint !== 'object') return hint;
  if (Array.isArray(value)) return hint.list;
  return isRecord(value) ? hint.block : hint.text;
}
