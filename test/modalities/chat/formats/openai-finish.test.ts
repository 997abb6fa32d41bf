import { expect } from 'chai';
import { finishReason } from '../../../../src/modalities/chat/formats/openai-finish.js';

describe('finishReason', () => {
  const ROWS: [said: string | null | undefined, plain: string, withCalls: string][] = [
    ['stop', 'stop', 'tool_calls'],
    ['length', 'length', 'length'],
    ['content_filter', 'content_filter', 'content_filter'],
    ['tool_calls', 'stop', 'tool_calls'],
    ['function_call', 'stop', 'tool_calls'],
    ['max_tokens', 'length', 'length'],
    ['MAX_TOKENS', 'length', 'length'],
    ['model_length', 'length', 'length'],
    ['SAFETY', 'content_filter', 'content_filter'],
    ['refusal', 'content_filter', 'content_filter'],
    ['STOP', 'stop', 'tool_calls'],
    ['eos_token', 'stop', 'tool_calls'],
    ['constructor', 'stop', 'tool_calls'],
    ['', 'stop', 'tool_calls'],
    [null, 'stop', 'tool_calls'],
    [undefined, 'stop', 'tool_calls'],
  ];
  for (const [said, plain, withCalls] of ROWS) {
    it(`makes ${plain} of ${JSON.stringify(said)}, and ${withCalls} where tools are called`, () => {
      expect(finishReason(said, false)).to.equal(plain);
      expect(finishReason(said, true)).to.equal(withCalls);
    });
  }
});
