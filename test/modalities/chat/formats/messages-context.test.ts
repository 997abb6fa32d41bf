import { expect } from 'chai';
import { contextWords } from '../../../../src/modalities/chat/formats/messages-context.js';

const BOTH =
  'input length and `max_tokens` exceed context limit: 3000 + 2000 > 4096, ' +
  'decrease input length or `max_tokens` and try again';
const PROMPT = 'prompt is too long: 5000 tokens > 4096 maximum';

describe('a prompt that is too long, in the words of the Messages API', () => {
  for (const [upstream, words] of [
    [BOTH, BOTH],
    [PROMPT, PROMPT],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens " +
        '(3000 in the messages, 2000 in the completion). Please reduce the length.',
      BOTH,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 7000 tokens " +
        '(5000 in the messages, 2000 in the completion).',
      PROMPT,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 2000 output " +
        'tokens and your prompt contains at least 3000 input tokens, for a total of at least 5000.',
      BOTH,
    ],
    [
      "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context " +
        'length is 4096 tokens and your request has 3000 input tokens (2000 > 4096 - 3000).',
      BOTH,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, your messages resulted in " +
        '5000 tokens. Please reduce the length of the messages.',
      PROMPT,
    ],
    ['The input token count (5000) exceeds the maximum number of tokens allowed (4096).', PROMPT],
    ['request (5000 tokens) exceeds the available context size (4096 tokens), try', PROMPT],
    [
      'Prompt contains 5000 tokens and 0 draft tokens, too large for model with 4096 maximum ' +
        'context length',
      PROMPT,
    ],
    ['Your input is too long.', 'prompt is too long: Your input is too long.'],
    ['Prompt is too long', 'Prompt is too long'],
  ] as const) {
    it(`is ${words.slice(0, 44)}… where the upstream says "${upstream.slice(0, 60)}…"`, () => {
      expect(contextWords(upstream)).to.equal(words);
    });
  }
});
