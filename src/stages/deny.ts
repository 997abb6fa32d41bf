import { GatewayError, OptionError } from '../core/errors.js';
import { WordList } from '../lib/word-list.js';
import { fact, type Stage } from '../pipeline/stage.js';
import type { DenyOption } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';
import { patternsOf } from './text-patterns.js';

/** What a request is searched for, and how its refusal is told. */
interface Denied {
  isIn: (text: string) => boolean;
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
  create: (option, { eachText }) => {
    const { isIn, message } = read(option);
    return (ctx, next) => {
      eachText(fact(ctx.state, 'request'), (text, field) => {
        if (isIn(text)) throw refusal(field, message);
        return text;
      });
      return next();
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
    isIn: (text) => list.isIn(text) || patterns.some((pattern) => pattern.isIn(text)),
    message,
  };
}

function refusal(field: string, message: string | undefined): GatewayError {
  const param = field.slice(0, FIELD_CHARACTERS);
  const said = message ?? `${param} has content that is not allowed here.`;
  return new GatewayError('content_policy_violation', said, { param });
}
