import { GatewayError, OptionError } from '../core/errors.js';
import { PERSONAL_DATA, type TextPattern } from '../lib/personal-data.js';
import { fact, type Stage } from '../pipeline/stage.js';
import type { MaskOption } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';
import { patternsOf } from './text-patterns.js';

/** One thing that is searched for, and what stands in its place. */
interface Masked {
  pattern: TextPattern;
  by: string;
}

const DEFAULT_WITH = '[{kind}]';
/** What is masked may have hidden something beside it, which is found the next time. */
const PASSES = 4;
/** The time that own patterns may take for one request: many matches in a long text are slow. */
const MOST_MS = 2_000;

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
  create: (option, { eachText, now }) => {
    const all = read(option);
    return (ctx, next) => {
      const due_ms = now() + MOST_MS;
      eachText(fact(ctx.state, 'request'), (text, field) =>
        masked(text, all, () => {
          if (now() > due_ms) throw tooSlow(field);
        }),
      );
      return next();
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
    const finder = all.find(({ pattern }) => pattern.isIn(said));
    if (!finder) continue;
    const found = `${JSON.stringify(said)} would be masked again, as ${finder.pattern.kind}`;
    throw new OptionError(`${found}: choose another text for "with"`);
  }
  return all;
}

function masked(text: string, all: readonly Masked[], onMatch: () => void): string {
  let said = text;
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = said;
    for (const { pattern, by } of all) said = pattern.replace(said, by, onMatch);
    if (said === before) break;
  }
  return said;
}

function tooSlow(field: string): GatewayError {
  const message = `${field} takes too long to be searched: send less text.`;
  return new GatewayError('invalid_request', message, { param: field });
}
