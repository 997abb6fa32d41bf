import { distance } from '../yaml/did-you-mean.js';

/**
 * The known model that an unknown ID most likely means: the same in other case or with other marks
 * between its parts, or with one misspelt word. Undefined for an ID that may be of a newer model:
 * models of one family differ by their numbers, as `NAME-5.1` and `NAME-5.2`.
 */
export function meantModel(id: string, known: readonly string[]): string | undefined {
  if (known.includes(id)) return undefined;
  const same = known.find((other) => partsOf(other).join('') === partsOf(id).join(''));
  return same ?? known.find((other) => isSlip(partsOf(id), partsOf(other)));
}

/** A shorter word has others like it: `pro` is not `pre`. */
const WORD_CHARACTERS = 4;

/** Whether two IDs differ in one word without digits, by one typing error. */
function isSlip(given: readonly string[], known: readonly string[]): boolean {
  if (given.length !== known.length) return false;
  const [at, ...others] = given.flatMap((part, i) => (part === known[i] ? [] : [i]));
  if (at === undefined || others.length > 0) return false;
  const [wrong, right] = [given[at] ?? '', known[at] ?? ''];
  if (/\d/.test(wrong + right) || Math.min(wrong.length, right.length) < WORD_CHARACTERS)
    return false;
  return distance(wrong, right) === 1;
}

function partsOf(id: string): string[] {
  return id.toLowerCase().split(/[-_.:@/ ]+/);
}
