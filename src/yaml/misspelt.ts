import { nearestWord } from './did-you-mean.js';
import { requiredFor } from './foreign.js';
import type { Source } from './source.js';

/**
 * Whether a missing key is only misspelt, or in the words of another program, which is reported
 * already. `others` are valid keys that look like it.
 */
export function isMisspelt(
  source: Source,
  pointer: string,
  key: string,
  others: readonly string[] = [],
): boolean {
  // Most files have no fault, and need no words of other programs.
  if (!source.report.failed) return false;
  const keys = (source.keys(pointer) ?? []).filter((one) => !others.includes(one));
  const isMeant = (other: string): boolean =>
    nearestWord(other, [key]) !== undefined || requiredFor(other).includes(key);
  return !keys.includes(key) && keys.some(isMeant);
}
