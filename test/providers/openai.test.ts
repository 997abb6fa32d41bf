import { expect } from 'chai';
import fc from 'fast-check';
import { chat as wire_codec } from '../../providers/openai.js';
import type { ChatCall, ChatReply } from '../../src/modalities/chat/codec.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { Upstream } from '../../src/core/model.js';
import { preparedCodec } from '../../src/modalities/chat/prepared-codec.js';

const chat = preparedCodec(wire_codec);

const CALL: ChatCall = {
  messages: [{ role: 'user', content: 'Hi' }],
  stream: false,
  n: 1,
  max_tokens: 9,
  fields: { temperature: 0.5, seed: 7 },
};

function upstream(more: Partial<Upstream> = {}, wire: Record<string, unknown> = {}): Upstream {
  return upstreamAt(providerAt('http://fake.invalid', { wire }), more);
}

function encode(call: Partial<ChatCall>, to: Upstream = upstream()): Record<string, unknown> {
  return chat.encode({ ...CALL, ...call }, to).body;
}

describe('encoding for the openai codec', () => {
  it("sends the call in the upstream's own model name, to the operation's path", () => {
    expect(chat.encode(CALL, upstream({ model: 'real-1' }))).to.deep.equal({
      path: '',
      body: {
        model: 'real-1',
        messages: CALL.messages,
        temperature: 0.5,
        seed: 7,
        stream: false,
        max_tokens: 9,
      },
    });
  });

  it('sends n only above 1, and no limit where there is none', () => {
    expect(encode({ n: 3 })).to.have.property('n', 3);
    expect(encode({ max_tokens: undefined })).to.not.have.any.keys('n', 'max_tokens');
  });

  it('asks for usage in a stream, unless the upstream does not take the question', () => {
    expect(encode({ stream: true })).to.deep.include({
      stream: true,
      stream_options: { include_usage: true },
    });
    const unasked = upstream({}, { stream_options: false });
    expect(encode({ stream: true }, unasked)).to.not.have.property('stream_options');
    expect(encode({})).to.not.have.property('stream_options');
  });

  it('drops, then renames, then sets', () => {
    const to = upstream({
      drop: ['temperature'],
      rename: { max_tokens: 'max_completion_tokens', seed: 'random_seed', gone: 'there' },
      set: { random_seed: 8, top_p: 0.1 },
    });
    expect(encode({}, to)).to.deep.equal({
      model: 'fake-1',
      messages: CALL.messages,
      stream: false,
      max_completion_tokens: 9,
      random_seed: 8,
      top_p: 0.1,
    });
  });

  it('lets nothing touch what the hold was made for', () => {
    const own = ['model', 'messages', 'stream', 'n', 'max_tokens'];
    const set = { model: 'x', messages: [], stream: true, n: 99, max_tokens: 1e6, limit: 1e6 };
    const to = upstream({
      drop: own,
      rename: { max_tokens: 'limit', temperature: 'n', seed: 'model' },
      set: { ...set, max_completion_tokens: 1e6 },
    });
    expect(encode({ n: 2 }, to)).to.deep.equal({
      model: 'fake-1',
      messages: CALL.messages,
      stream: false,
      n: 2,
      limit: 9,
      temperature: 0.5,
      seed: 7,
    });
  });

  it('limits reasoning models of OpenAI by max_completion_tokens, and others by max_tokens', () => {
    const wire = { max_completion_tokens: ['o3', 'gpt-5'] };
    expect(encode({}, upstream({ model: 'gpt-5-mini' }, wire))).to.include({
      max_completion_tokens: 9,
    });
    expect(encode({}, upstream({ model: 'gpt-4o' }, wire))).to.include({ max_tokens: 9 });
    const rename = { max_tokens: 'limit' };
    const renamed = encode({}, upstream({ model: 'o3', rename }, wire));
    expect(renamed).to.include({ limit: 9 }).and.not.have.property('max_completion_tokens');
  });

  it('names what it leaves out', () => {
    const messages: ChatCall['messages'] = [
      { role: 'user', content: 'a', cache_control: { type: 'ephemeral' } },
    ];
    const { ignored } = chat.encode({ ...CALL, messages }, upstream({ drop: ['seed'] }));
    expect(ignored).to.deep.equal(['messages[].cache_control', 'seed']);
  });

  it('drops the tools with a tool_choice of none that the upstream does not know', () => {
    const to = upstream({ drop: ['tool_choice'] });
    const tools = [{ type: 'function' }];
    expect(encode({ fields: { tools, tool_choice: 'none' } }, to)).to.not.have.property('tools');
    expect(encode({ fields: { tools, tool_choice: 'auto' } }, to)).to.have.property('tools', tools);
  });

  it('gives tool call ids the one length that the upstream takes, the same for the same', () => {
    const call = (id: string) => ({
      id,
      type: 'function' as const,
      function: { name: 'add', arguments: '{}' },
    });
    const messages: ChatCall['messages'] = [
      { role: 'assistant', content: null, tool_calls: [call('call_long_1'), call('aB3dE5gH7')] },
      { role: 'tool', content: '1', tool_call_id: 'call_long_1' },
      { role: 'tool', content: '2', tool_call_id: 'aB3dE5gH7' },
    ];
    const sent = encode({ messages }, upstream({}, { tool_id_length: 9 })).messages;
    const [asked, first, second] = sent as ChatCall['messages'];
    const ids = asked?.tool_calls?.map(({ id }) => id);
    expect(ids).to.deep.equal([first?.tool_call_id, second?.tool_call_id]);
    expect(ids?.[0]).to.match(/^[a-z0-9]{9}$/u);
    expect(ids?.[1]).to.equal('aB3dE5gH7');
  });
});

describe('decoding by the openai codec', () => {
  const decode = (body: unknown, wire: Record<string, unknown> = {}): ChatReply =>
    chat.decode(body, CALL, upstream({}, wire));
  const said = (message: unknown, more: object = {}): object => ({
    choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
  });
  const add = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"x":1}' } };

  const choices: [string, object, Record<string, unknown>, object][] = [
    ['text', said({ role: 'assistant', content: 'Hi', refusal: null }), {}, { content: 'Hi' }],
    [
      'a list of parts',
      said({ content: [{ type: 'text', text: 'a' }, { text: 'b' }, 7] }),
      {},
      { content: 'ab' },
    ],
    [
      'thinking parts',
      said({
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }, { text: 'a' }],
      }),
      {},
      { content: 'a', reasoning_content: 'Hm.' },
    ],
    [
      'reasoning',
      said({ content: 'a', reasoning: 'Hm.' }),
      {},
      { content: 'a', reasoning_content: 'Hm.' },
    ],
    [
      'reasoning under two names',
      said({ content: 'a', reasoning: 'Hm.', reasoning_details: [{ text: 'Hm.' }] }),
      {},
      { content: 'a', reasoning_content: 'Hm.' },
    ],
    [
      'reasoning details, and a summary as reasoning (OpenRouter)',
      said({
        content: 'a',
        reasoning: null,
        reasoning_details: [
          { type: 'reasoning.summary', summary: 'Hm.', format: 'openai-responses-v1', index: 0 },
          { type: 'reasoning.encrypted', data: 'ZW5j', id: 'rs_1', odd: 7 },
          { text: 'of no type' },
        ],
      }),
      {},
      {
        content: 'a',
        reasoning_content: 'Hm.of no type',
        reasoning_details: [
          { type: 'reasoning.summary', summary: 'Hm.', format: 'openai-responses-v1', index: 0 },
          { type: 'reasoning.encrypted', data: 'ZW5j', id: 'rs_1' },
        ],
      },
    ],
    [
      'a thought signature of Gemini beside text',
      said({ content: 'a', extra_content: { google: { thought_signature: 'QUJD' } } }),
      {},
      {
        content: 'a',
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'QUJD', format: 'google-gemini-v1' },
        ],
      },
    ],
    [
      'a thought signature of Vertex beside a tool call',
      said({
        tool_calls: [{ ...add, extra_content: { vertex: { thought_signature: 'a+/bcA==' } } }],
      }),
      {},
      { content: null, tool_calls: [{ ...add, id: 'call_1~ts~a-_bcA' }] },
    ],
    [
      'reasoning between tags',
      said({ content: '<think>\nHm.</think>\n\na </think>' }),
      { think_tags: true },
      { content: 'a </think>', reasoning_content: '\nHm.' },
    ],
    [
      'tags that are text',
      said({ content: '<think>a</think>' }),
      {},
      { content: '<think>a</think>' },
    ],
    [
      'a refusal',
      said({ content: null, refusal: 'No.' }),
      {},
      { content: 'No.', is_refusal: true },
    ],
    ['no content', said({ content: null }), {}, { content: '' }],
    [
      'no message',
      said(undefined, { finish_reason: 'content_filter' }),
      {},
      { content: '', finish_reason: 'content_filter' },
    ],
    [
      'tool calls',
      said({ content: null, tool_calls: [add] }),
      {},
      { content: null, tool_calls: [add] },
    ],
    [
      'tool calls and text',
      said({ content: 'a', tool_calls: [add] }),
      {},
      { content: 'a', tool_calls: [add] },
    ],
    [
      'untidy tool calls',
      said({
        content: '',
        tool_calls: [
          { id: 'b', function: { name: 'sub', arguments: { y: 2 } } },
          { id: 'c', function: { name: 'now' } },
          { id: 'd', function: { name: '' } },
          null,
          { id: 'e' },
        ],
      }),
      {},
      {
        content: null,
        tool_calls: [
          { id: 'b', type: 'function', function: { name: 'sub', arguments: '{"y":2}' } },
          { id: 'c', type: 'function', function: { name: 'now', arguments: '{}' } },
        ],
      },
    ],
    [
      'logprobs',
      said({ content: 'a' }, { logprobs: { content: [] } }),
      {},
      { content: 'a', logprobs: { content: [] } },
    ],
    [
      'no finish',
      said({ content: 'a' }, { finish_reason: null }),
      {},
      { content: 'a', finish_reason: null },
    ],
    ['no index', said({ content: 'a' }, { index: undefined }), {}, { content: 'a' }],
  ];
  for (const [what, body, wire, choice] of choices) {
    it(`reads ${what}`, () => {
      expect(decode(body, wire).choices).to.deep.equal([
        { index: 0, finish_reason: 'stop', ...choice },
      ]);
    });
  }

  it('leaves <think> in the text for a client that asks Groq for it (reasoning_format: raw)', () => {
    const body = said({ content: '<think>Hm.</think>a' });
    const to = upstream({}, { think_tags: true });
    const texts = [{ reasoning_format: 'raw' }, {}].map((fields) => {
      const [choice] = chat.decode(body, { ...CALL, fields }, to).choices;
      return [choice?.content, choice?.reasoning_content];
    });
    expect(texts).to.deep.equal([
      ['<think>Hm.</think>a', undefined],
      ['a', 'Hm.'],
    ]);
  });

  it('makes an id for a tool call that has none', () => {
    const [choice] = decode(said({ tool_calls: [{ function: { name: 'add' } }] })).choices;
    expect(choice?.tool_calls?.[0]?.id).to.match(/^call_[0-9a-f]{24}$/u);
  });

  it('keeps the order of several choices, and numbers those that share a number', () => {
    const several = (indexes: unknown[]): unknown[] =>
      decode({
        choices: indexes.map((index) => ({ index, message: { content: 'a' } })),
      }).choices.map(({ index }) => index);
    expect(several([1, 0, 2])).to.deep.equal([1, 0, 2]);
    expect(several([0, 0, 0])).to.deep.equal([0, 1, 2]);
    expect(several(['a', undefined, -1])).to.deep.equal([0, 1, 2]);
  });

  const usages: [object, Record<string, unknown>, unknown][] = [
    [
      { usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, queue_time: 1 } },
      {},
      { prompt_tokens: 9, completion_tokens: 3 },
    ],
    [
      { usage: null, x_groq: { usage: { prompt_tokens: 9, completion_tokens: 3 } } },
      {},
      { prompt_tokens: 9, completion_tokens: 3 },
    ],
    [
      { usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 30 } },
      { completion_from_total: true },
      { prompt_tokens: 9, completion_tokens: 21 },
    ],
    [
      { usage: { prompt_tokens: 9, completion_tokens: 3 } },
      { completion_from_total: true },
      { prompt_tokens: 9, completion_tokens: 3 },
    ],
    [
      {
        usage: {
          prompt_tokens: 23,
          completion_tokens: 60,
          total_tokens: 458,
          prompt_audio_seconds: 30,
        },
      },
      {},
      {
        prompt_tokens: 398,
        completion_tokens: 60,
        prompt_tokens_details: { audio_tokens: 375 },
      },
    ],
    [
      {
        usage: {
          prompt_tokens: 23,
          completion_tokens: 60,
          total_tokens: 83,
          prompt_audio_seconds: 30,
        },
      },
      {},
      {
        prompt_tokens: 398,
        completion_tokens: 60,
        prompt_tokens_details: { audio_tokens: 375 },
      },
    ],
    [
      { usage: { prompt_tokens: 398, completion_tokens: 60, prompt_audio_seconds: 30 } },
      {},
      { prompt_tokens: 398, completion_tokens: 60 },
    ],
    [
      { usage: { prompt_tokens: 9, completion_tokens: 3, prompt_audio_seconds: null } },
      {},
      { prompt_tokens: 9, completion_tokens: 3 },
    ],
    [
      {
        usage: {
          prompt_tokens: 90,
          completion_tokens: 30,
          prompt_tokens_details: {
            cached_tokens: 64,
            cache_write_tokens: 8,
            audio_tokens: 4,
            image_tokens: 6,
            text_tokens: 80,
          },
          completion_tokens_details: {
            reasoning_tokens: 20,
            audio_tokens: 0,
            image_tokens: 7,
            accepted_prediction_tokens: 2,
          },
        },
      },
      {},
      {
        prompt_tokens: 90,
        completion_tokens: 30,
        prompt_tokens_details: {
          cached_tokens: 64,
          cache_write_tokens: 8,
          audio_tokens: 4,
          image_tokens: 6,
        },
        completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 0, image_tokens: 7 },
      },
    ],
    [
      { usage: { prompt_tokens: 90, completion_tokens: 3, prompt_cache_hit_tokens: 64 } },
      {},
      {
        prompt_tokens: 90,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 64 },
      },
    ],
    [
      { usage: { prompt_tokens: 90, completion_tokens: 3, cached_tokens: 64 } },
      {},
      {
        prompt_tokens: 90,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 64 },
      },
    ],
    [
      { usage: { prompt_tokens: 90, completion_tokens: 30, reasoning_tokens: 12 } },
      {},
      {
        prompt_tokens: 90,
        completion_tokens: 30,
        completion_tokens_details: { reasoning_tokens: 12 },
      },
    ],
    [
      {
        usage: {
          prompt_tokens: 9,
          completion_tokens: 3,
          prompt_tokens_details: null,
          completion_tokens_details: 'none',
        },
      },
      {},
      { prompt_tokens: 9, completion_tokens: 3 },
    ],
    [{ usage: { prompt_tokens: '9' } }, {}, { prompt_tokens: '9', completion_tokens: undefined }],
    [{ usage: 'much' }, {}, undefined],
    [{}, {}, undefined],
  ];
  for (const [fields, wire, usage] of usages) {
    it(`reads usage from ${JSON.stringify(fields)} ${JSON.stringify(wire)}`, () => {
      expect(decode({ ...said({ content: 'a' }), ...fields }, wire).usage).to.deep.equal(usage);
    });
  }

  const failures: [unknown, string][] = [
    [{ error: { message: 'Sorry.', code: 429 } }, 'rate_limited'],
    [{ ...said({ content: 'a' }), error: { message: 'Sorry.', code: 400 } }, 'rejected'],
    [[{ error: { code: 503 } }], 'overloaded'],
    [{ object: 'error', message: 'Sorry.', code: 400 }, 'rejected'],
    [{ error: 'Sorry.' }, 'broken'],
    [said({ content: 'a' }, { finish_reason: 'error' }), 'broken'],
    [said({ content: 'a' }, { finish_reason: 'abort' }), 'broken'],
    [said({ content: 'a' }, { finish_reason: 'insufficient_system_resource' }), 'overloaded'],
    [said({ content: 'a' }, { error: { code: 502 } }), 'broken'],
    [said({ content: 7 }), 'broken'],
    [{ choices: [] }, 'broken'],
    [{ choices: null }, 'broken'],
    [{}, 'broken'],
    [null, 'broken'],
    ['text', 'broken'],
    [[], 'broken'],
  ];
  for (const [body, fault] of failures) {
    it(`fails as ${fault} for ${JSON.stringify(body)}`, () => {
      expect(() => decode(body))
        .to.throw(UpstreamError)
        .with.property('fault', fault);
    });
  }

  it('never fails otherwise than as an upstream does, whatever JSON comes', () => {
    const odd = fc.oneof(fc.constantFrom(null, 7, '', 'x', true, {}, [], [null]), fc.jsonValue());
    const call = fc.record({ id: odd, function: odd }, { requiredKeys: [] });
    const message = fc.record(
      { content: odd, refusal: odd, reasoning: odd, tool_calls: fc.oneof(odd, fc.array(call)) },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      odd,
      message.map((value) => said(value)),
    );
    fc.assert(
      fc.property(body, (value) => {
        try {
          decode(value, { think_tags: true, completion_from_total: true });
        } catch (error) {
          expect(error).to.be.instanceOf(UpstreamError);
        }
      }),
      { numRuns: 200 },
    );
  });
});
