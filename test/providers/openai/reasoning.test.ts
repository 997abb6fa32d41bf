import { expect } from 'chai';
import { chat } from '../../../providers/openai.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

type Fields = ChatCall['fields'];

const PROVIDER = providerAt('http://fake.invalid', {
  wire: { openai_models: true, max_completion_tokens: ['o', 'gpt-5', 'gpt-6'] },
});
const TOOLS = [{ type: 'function', function: { name: 'add' } }];

/** The fields that a model is sent, and the names of those left out. */
function sent(model: string, fields: Fields, set: Fields = {}): [object, readonly string[]] {
  const call: ChatCall = { messages: [], stream: false, n: 1, max_tokens: undefined, fields };
  const { body, ignored = [] } = chat.encode(call, upstreamAt(PROVIDER, { model, set }));
  const { model: _, messages: _messages, stream: _stream, ...rest } = body;
  return [rest, ignored];
}

const SAMPLING = {
  presence_penalty: 1,
  frequency_penalty: 1,
  logit_bias: { 50256: -100 },
  temperature: 0.2,
  top_p: 0.5,
  logprobs: true,
  top_logprobs: 2,
};
const NAMES = Object.keys(SAMPLING);

const ROWS: [title: string, model: string, fields: Fields, left: Fields, ignored: string[]][] = [
  ['sampling parameters', 'gpt-5-mini', { ...SAMPLING, seed: 7 }, { seed: 7 }, NAMES],
  ['sampling parameters', 'o4-mini-2025-04-16', SAMPLING, {}, NAMES],
  [
    'sampling parameters whatever its effort',
    'gpt-6-sol',
    { temperature: 0, reasoning_effort: 'none' },
    { reasoning_effort: 'none' },
    ['temperature'],
  ],
  [
    'sampling parameters in silence where they ask for nothing',
    'gpt-5',
    { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, logprobs: false },
    {},
    [],
  ],
  [
    'nothing unless it is asked to reason',
    'gpt-5.4',
    { temperature: 0.2, top_p: 0.5, logprobs: true },
    { temperature: 0.2, top_p: 0.5, logprobs: true },
    [],
  ],
  [
    'sampling parameters once it is asked to reason',
    'gpt-5.2',
    { temperature: 0.2, reasoning_effort: 'low' },
    { reasoning_effort: 'low' },
    ['temperature'],
  ],
  [
    'sampling parameters unless its effort is none',
    'gpt-5.5',
    { temperature: 0.2 },
    {},
    ['temperature'],
  ],
  [
    'nothing where its effort is none',
    'gpt-5.5',
    { temperature: 0.2, reasoning_effort: 'none' },
    { temperature: 0.2, reasoning_effort: 'none' },
    [],
  ],
  [
    'reasoning_effort and verbosity',
    'gpt-4o-mini',
    { temperature: 0.2, reasoning_effort: 'low', verbosity: 'low' },
    { temperature: 0.2 },
    ['reasoning_effort', 'verbosity'],
  ],
  ['an effort of none in silence', 'gpt-4.1', { reasoning_effort: 'none' }, {}, []],
  [
    'reasoning_effort',
    'gpt-5-chat-latest',
    { temperature: 0.2, reasoning_effort: 'low' },
    { temperature: 0.2 },
    ['reasoning_effort'],
  ],
  ['reasoning_effort', 'gpt-35-turbo', { reasoning_effort: 'high' }, {}, ['reasoning_effort']],
  [
    'parallel_tool_calls',
    'o3',
    { tools: TOOLS, parallel_tool_calls: false },
    { tools: TOOLS },
    ['parallel_tool_calls'],
  ],
  [
    'parallel_tool_calls in silence where it asks for nothing',
    'o3',
    { tools: TOOLS, parallel_tool_calls: true },
    { tools: TOOLS },
    [],
  ],
  [
    'nothing, as its name says nothing',
    'my-deployment',
    { ...SAMPLING, reasoning_effort: 'low' },
    { ...SAMPLING, reasoning_effort: 'low' },
    [],
  ],
];

const EFFORTS: [model: string, effort: string, said: string, ignored: string[]][] = [
  ['gpt-5', 'none', 'minimal', ['reasoning_effort']],
  ['o3', 'none', 'low', ['reasoning_effort']],
  ['o3', 'minimal', 'low', []],
  ['o3', 'xhigh', 'high', []],
  ['gpt-5', 'minimal', 'minimal', []],
  ['gpt-5.1', 'minimal', 'low', []],
  ['gpt-5.1', 'xhigh', 'high', []],
  ['gpt-5.2', 'xhigh', 'xhigh', []],
  ['gpt-6-sol', 'max', 'max', []],
  ['gpt-5', 'wild', 'wild', []],
];

describe("the fields that OpenAI's models refuse", () => {
  for (const [title, model, fields, left, ignored] of ROWS) {
    it(`${model} is not sent ${title}`, () => {
      expect(sent(model, fields)).to.deep.equal([left, ignored]);
    });
  }

  for (const [model, effort, said, ignored] of EFFORTS) {
    it(`${model} is sent ${said} for an effort of ${effort}`, () => {
      const fields = { reasoning_effort: effort };
      expect(sent(model, fields)).to.deep.equal([{ reasoning_effort: said }, ignored]);
    });
  }

  it('a model that reasons only without tools, on this wire, does not reason with them', () => {
    const off = { tools: TOOLS, reasoning_effort: 'none' };
    const low = { tools: TOOLS, reasoning_effort: 'low' };
    for (const model of ['gpt-5.4', 'gpt-5.5', 'gpt-5.6-terra']) {
      expect(sent(model, low)).to.deep.equal([off, ['reasoning_effort']]);
      expect(sent(model, off)).to.deep.equal([off, []]);
    }
    expect(sent('gpt-5.4', { tools: TOOLS })).to.deep.equal([{ tools: TOOLS }, []]);
    expect(sent('gpt-5.6', { tools: TOOLS })).to.deep.equal([off, []]);
    expect(sent('gpt-5.1', low)).to.deep.equal([low, []]);
  });

  it('stop sequences are for another upstream, as the answer would differ without them', () => {
    for (const model of ['o3', 'gpt-5-nano', 'gpt-5.4']) {
      expect(() => sent(model, { stop: ['END'] }))
        .to.throw(UpstreamError)
        .that.includes({ fault: 'unsupported', param: 'stop' });
    }
    expect(sent('gpt-5.5', { stop: ['END'] })).to.deep.equal([{ stop: ['END'] }, []]);
    expect(sent('gpt-4o', { stop: ['END'] })).to.deep.equal([{ stop: ['END'] }, []]);
  });

  it('what the operator sets is sent, and an effort that he sets counts', () => {
    expect(sent('gpt-5', { temperature: 0.2 }, { temperature: 0.5 })).to.deep.equal([
      { temperature: 0.5 },
      ['temperature'],
    ]);
    expect(sent('gpt-5.5', { temperature: 0.2 }, { reasoning_effort: 'none' })).to.deep.equal([
      { temperature: 0.2, reasoning_effort: 'none' },
      [],
    ]);
  });
});
