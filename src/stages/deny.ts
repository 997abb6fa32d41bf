import { GatewayError, OptionError } from '../core/errors.js';
import { isIn, type Steps } from '../lib/text-search.js';
import { WordList } from '../lib/word-list.js';
import type { Stage } from '../pipeline/stage.js';
import type { DenyOption } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';
import { searchTexts } from './search-texts.js';
import { patternsOf } from './text-patterns.js';

/** What a request is searched for, and how its refusal is told. */
interface Denied {
  isIn: (text: string) => Steps<boolean>;
  message: string | undefined;
}

/** Characters of a field that an error names: parts of it are the client's own words. */
const FIELD_CHARACTERS = 256;

/** Refuses a request in whose texts stands what it is told to look for, before money is held. */
export const deny: Stage = {
  name: 'deny',
  shape: (option) => {
    read(option);
    return { needs: ['request'], gives: [], precedes: ['work'] };
  },
  create: (option, services) => {
    const denied = read(option);
    const search = function* (text: string, field: string): Steps<string> {
      if (yield* denied.isIn(text)) throw refusal(field, denied.message);
      return text;
    };
    return async (ctx, next) => {
      await searchTexts(ctx, search, services);
      await next();
    };
  },
};

/** Throws `OptionError`. The schema of gateway.yaml has checked all but what it cannot know. */
function read(option: unknown): Denied {
  const { words = [], message, ...search } = (option ?? {}) as PartialLoad<NonNullable<DenyOption>>;
  const patterns = patternsOf(search);
  const list = new WordList(words.filter((word) => word !== undefined));
  if (patterns.length === 0 && words.length === 0) {
    throw new OptionError('it needs words, patterns or also, such as { words: [project orchid] }');
  }
  return {
    *isIn(text) {
      if (yield* list.search(text)) return true;
      for (const pattern of patterns) if (yield* isIn(pattern, text)) return true;
      return false;
    },
    message,
  };
}

function refusal(field: string, message: string | undefined): GatewayError {
  const param = field.slice(0, FIELD_CHARACTERS);
  const said = message ?? `${param} has content that is not allowed here.`;
  return new GatewayError('content_policy_violation', said, { param });
}
