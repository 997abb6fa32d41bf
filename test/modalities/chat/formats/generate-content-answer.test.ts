import { expect } from 'chai';
import {
  answerOf,
  finishOf,
  logprobsOf,
  contentUsage,
} from '../../../../src/modalities/chat/formats/generate-content-answer.js';
import { ContentWriter } from '../../../../src/modalities/chat/formats/generate-content-stream.js';

const HEAD = { id: 'chatcmpl-7', created: 1, model: 'm' };
const USAGE = { prompt_tokens: 4, completion_tokens: 5, reasoning_tokens: 3, cached_tokens: 2 };
const BILL = { usage: USAGE, cost_nano: 0n, estimated: false };
const token = (said: string, logprob: number, top: object[] = []): object => ({
  token: said,
  logprob,
  bytes: [],
  top_logprobs: top,
});
const LOGPROBS = { content: [token('Hi', -1, [token('Yo', -2)]), token('!', -3)] };
const RESULT = {
  avgLogprobs: -2,
  logprobsResult: {
    chosenCandidates: [
      { token: 'Hi', logProbability: -1 },
      { token: '!', logProbability: -3 },
    ],
    topCandidates: [{ candidates: [{ token: 'Yo', logProbability: -2 }] }, { candidates: [] }],
  },
};

describe('an answer in the words of the Gemini API', () => {
  it('gives the probabilities of tokens, whole and streamed', () => {
    const choice = { index: 0, content: 'Hi!', finish_reason: 'stop', logprobs: LOGPROBS };
    const answer = answerOf(HEAD, { choices: [choice], usage: USAGE }, BILL, {
      hides_thoughts: true,
    });
    expect(answer).to.have.deep.property('candidates', [
      {
        content: { role: 'model', parts: [{ text: 'Hi!' }] },
        finishReason: 'STOP',
        ...RESULT,
        index: 0,
      },
    ]);
    const visible = { choices: 1, tools: false, reasoning: false, logprobs: true };
    const writer = new ContentWriter(HEAD, visible, { as: 'events', thoughts: false });
    const event = writer.frame([{ index: 0, content: 'Hi!', logprobs: LOGPROBS }]);
    const { candidates } = JSON.parse(event.slice('data: '.length)) as { candidates: object[] };
    expect(candidates).to.deep.equal([
      { content: { role: 'model', parts: [{ text: 'Hi!' }] }, ...RESULT, index: 0 },
    ]);
  });

  it('skips probabilities that are none, and reads no alternatives where those are null', () => {
    const bad = [null, 'x', { token: 1, logprob: -1 }, { token: 'a' }];
    const good = { token: 'Hi', logprob: -1, top_logprobs: null };
    const content = [...bad, good, { token: '!', logprob: -3, top_logprobs: [null, bad, good] }];
    expect(logprobsOf({ content })).to.deep.equal({
      avgLogprobs: -2,
      logprobsResult: {
        chosenCandidates: [
          { token: 'Hi', logProbability: -1 },
          { token: '!', logProbability: -3 },
        ],
        topCandidates: [{ candidates: [] }, { candidates: [{ token: 'Hi', logProbability: -1 }] }],
      },
    });
    for (const none of [null, {}, { content: null }, { content: bad }]) {
      expect(logprobsOf(none)).to.deep.equal({});
    }
  });

  it('counts thoughts beside the tokens of the text', () => {
    expect(contentUsage(USAGE)).to.deep.equal({
      promptTokenCount: 4,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 3,
      cachedContentTokenCount: 2,
      totalTokenCount: 9,
    });
  });

  it('has a word for each end', () => {
    const ends = ['stop', 'length', 'content_filter', 'safety', null, 'odd'];
    expect(ends.map((end) => finishOf(end, false))).to.deep.equal([
      'STOP',
      'MAX_TOKENS',
      'SAFETY',
      'SAFETY',
      'STOP',
      'STOP',
    ]);
    expect(finishOf('tool_calls', true)).to.equal('STOP');
  });
});
