import { OptionError } from '../core/errors.js';
import { PERSONAL_DATA } from '../lib/personal-data.js';
import { atOnce, isIn, replaced, type Steps, type TextPattern } from '../lib/text-search.js';
import type { Stage } from '../pipeline/stage.js';
import type { MaskOption } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';
import { searchTexts } from './search-texts.js';
import { patternsOf } from './text-patterns.js';

/** One thing that is searched for, and what stands in its place. */
interface Masked {
  pattern: TextPattern;
  by: string;
}

const DEFAULT_WITH = '[{kind}]';
/** What is masked may have hidden something beside it, which is found the next time. */
const PASSES = 4;

/**
 * Hides addresses, numbers and more in all texts of a request, before anything else reads them. The
 * answer stays as it is.
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

/** Throws `OptionError`. The schema of gateway.yaml has checked all but what it cannot know. */
function read(option: unknown): Masked[] {
  const {
    with: by = DEFAULT_WITH,
    patterns,
    also,
  } = (option ?? {}) as PartialLoad<NonNullable<MaskOption>>;
  const all = patternsOf({ patterns: patterns ?? [...PERSONAL_DATA.keys()], also }).map(
    (pattern) => ({ pattern, by: by.replaceAll('{kind}', () => pattern.kind) }),
  );
  if (all.length === 0) throw new OptionError('its patterns are none, so it would mask nothing');
  for (const { by: said } of all) {
    const finder = all.find(({ pattern }) => atOnce(isIn(pattern, said)));
    if (!finder) continue;
    const found = `${JSON.stringify(said)} would be masked again, as ${finder.pattern.kind}`;
    throw new OptionError(`${found}: choose another text for "with"`);
  }
  return all;
}

function* masked(text: string, all: readonly Masked[]): Steps<string> {
  let said = text;
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = said;
    for (const { pattern, by } of all) said = yield* replaced(said, pattern, by);
    if (said === before) break;
  }
  return said;
}
