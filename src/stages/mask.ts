import { OptionError } from '../core/errors.js';
import { PERSONAL_DATA } from '../lib/personal-data.js';
import { atOnce, isIn, replaced, type Steps, type TextPattern } from '../lib/text-search.js';
import type { Stage } from '../pipeline/stage.js';
import type { MaskOption } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';
import { searchTexts } from './search-texts.js';
import { patternsOf } from './text-patterns.js';

/** A pattern, and the text that replaces its matches. */
interface Masked {
  pattern: TextPattern;
  replacement: string;
}

const DEFAULT_WITH = '[{kind}]';
/** Names of other programs for the kind. Other words in braces may be meant as they stand. */
const OTHER_PLACE = /\{(?:type|name|pattern|label|category|entity(?:_type)?)\}/i;
/** Masking one match may uncover another beside it, so the search is repeated up to this often. */
const PASSES = 4;

/**
 * Replaces personal data, such as addresses and numbers, in all texts of a request, before the next
 * stage reads them. The answer stays unchanged.
 */
export const mask: Stage = {
  name: 'mask',
  shape: (option) => {
    read(option);
    return { needs: ['request'], gives: [], precedes: ['work'] };
  },
  create: (option, services) => {
    const all = read(option);
    return async (ctx, next) => {
      await searchTexts(ctx, (text) => masked(text, all), services);
      await next();
    };
  },
};

/**
 * Reads the option. Throws `OptionError` for faults that the schema of gateway.yaml cannot find.
 */
function read(option: unknown): Masked[] {
  const {
    with: replacement = DEFAULT_WITH,
    patterns,
    also,
  } = (option ?? {}) as PartialLoad<NonNullable<MaskOption>>;
  const [place] = OTHER_PLACE.exec(replacement) ?? [];
  if (place !== undefined) {
    const message = `${place} is not replaced in "with"; did you mean {kind}?`;
    throw new OptionError(message, [], 'with');
  }
  const all = patternsOf({ patterns: patterns ?? [...PERSONAL_DATA.keys()], also }).map(
    (pattern) => ({ pattern, replacement: replacement.replaceAll('{kind}', () => pattern.kind) }),
  );
  if (all.length === 0) throw new OptionError('its patterns are none, so it would mask nothing');
  for (const { replacement } of all) {
    const finder = all.find(({ pattern }) => atOnce(isIn(pattern, replacement)));
    if (!finder) continue;
    const found = `${JSON.stringify(replacement)} would be masked again, as ${finder.pattern.kind}`;
    throw new OptionError(`${found}: choose another text for "with"`, [], 'with');
  }
  return all;
}

function* masked(text: string, all: readonly Masked[]): Steps<string> {
  let result = text;
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = result;
    for (const { pattern, replacement } of all)
      result = yield* replaced(result, pattern, replacement);
    if (result === before) break;
  }
  return result;
}
