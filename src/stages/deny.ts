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
  refusePatterns(words);
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

const PATTERN = /\.[*+]|\\[bdsw]|\[[^\]]+\][?*+{]|\w\*$|^\*\w/;

/** Throws `OptionError` for words that are patterns, with the patterns to write. */
function refusePatterns(words: readonly (string | undefined)[]): void {
  const regular = words.filter((word) => word !== undefined && PATTERN.test(word));
  const [first] = regular;
  if (first === undefined) return;
  const patterns = regular.map((word = '') => {
    return /^\*?[\w ]+\*?$/.test(word) ? `'(?i)${patternOf(word)}'` : `'${word}'`;
  });
  const found = `its word "${first}" is a pattern, and words are plain text`;
  const part = `words/${words.indexOf(first)}`;
  throw new OptionError(`${found}; write also: [${patterns.join(', ')}] in its place`, [], part);
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
