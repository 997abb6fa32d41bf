import { GatewayError, OptionError } from '../core/errors.js';
import { isIn, type Steps } from '../lib/text-search.js';
import { WordList } from '../lib/word-list.js';
import type { Stage } from '../pipeline/stage.js';
import type { DenyOption } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';
import { searchTexts } from './search-texts.js';
import { patternsOf } from './text-patterns.js';

/** The texts that a request must not have, and the message of its refusal. */
interface Denied {
  isIn: (text: string) => Steps<boolean>;
  message: string | undefined;
}

/** The longest field name in an error: clients choose parts of it. */
const FIELD_CHARACTERS = 256;

/** Refuses a request whose texts match a word or pattern of its option, before money is held. */
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

/**
 * Reads the option. Throws `OptionError` for faults that the schema of gateway.yaml cannot find.
 */
function read(option: unknown): Denied {
  const { words = [], message, ...search } = (option ?? {}) as PartialLoad<NonNullable<DenyOption>>;
  const patterns = patternsOf(search);
  const regular = words.find(
    (word) => word !== undefined && /\.[*+]|\\[bdsw]|\[[^\]]+\][?*+{]|\w\*$|^\*\w/.test(word),
  );
  if (regular !== undefined) {
    const found = `its word ${JSON.stringify(regular)} is a pattern, and words are plain text`;
    const isWildcard = /^\*?[\w ]+\*?$/.test(regular);
    const right = isWildcard ? ` as '(?i)${patternOf(regular)}'` : '';
    const part = `words/${words.indexOf(regular)}`;
    throw new OptionError(`${found}; write it under also${right}`, [], part);
  }
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

/** The regular expression of a word with an asterisk for further letters. */
function patternOf(wildcard: string): string {
  return `\\b${wildcard.replaceAll('*', '\\w*')}\\b`;
}

function refusal(field: string, message: string | undefined): GatewayError {
  const param = field.slice(0, FIELD_CHARACTERS);
  const text = message ?? `${param} has content that is not allowed here.`;
  return new GatewayError('content_policy_violation', text, { param });
}
