import { expect } from 'chai';
import { chat } from '../../../providers/bedrock.js';
import type { ChatCall, ChatReply } from '../../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const NOVA = 'amazon.nova-lite-v1:0';
const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const CALL: ChatCall = {
  messages: [{ role: 'user', content: 'Hello' }],
  stream: false,
  n: 1,
  max_tokens: 100,
  fields: {},
};

function decode(body: unknown, model = NOVA, call = CALL): ChatReply {
  return chat.decode(body, call, upstreamAt(providerAt('http://fake.invalid'), { model }));
}

function answer(content: readonly object[], stopReason = 'end_turn', usage?: unknown): object {
  return { output: { message: { role: 'assistant', content } }, stopReason, usage };
}

const use = (name: string, input: unknown, more: object = {}): object => ({
  toolUse: { toolUseId: `id-${name}`, name, input, ...more },
});

describe('an answer of Converse', () => {
  it('says text, calls and usage', () => {
    const usage = { inputTokens: 9, outputTokens: 3, totalTokens: 12 };
    const content = [{ text: 'Let me ' }, { text: 'see.' }, use('weather', { city: 'Rome' })];
    expect(decode(answer(content, 'tool_use', usage))).to.deep.equal({
      choices: [
        {
          index: 0,
          content: 'Let me see.',
          tool_calls: [
            {
              id: 'id-weather',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Rome"}' },
            },
          ],
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 3 },
    });
  });

  it('has no text where it is calls alone, and an empty object for no arguments', () => {
    const [choice] = decode(answer([use('now', undefined)], 'tool_use')).choices;
    expect(choice?.content).to.equal(null);
    expect(choice?.tool_calls?.[0]?.function.arguments).to.equal('{}');
  });

  it('has cited text in it, but not what the service ran itself', () => {
    const content = [
      use('nova_grounding', { q: 1 }, { type: 'server_tool_use' }),
      { toolResult: { toolUseId: 'x', content: [{ text: 'found' }] } },
      { citationsContent: { content: [{ text: 'It ' }, { text: 'rains' }], citations: [{}] } },
      { text: '.' },
    ];
    const [choice] = decode(answer(content)).choices;
    expect(choice).to.deep.equal({ index: 0, content: 'It rains.', finish_reason: 'stop' });
  });

  it('shows reasoning, and gives what Claude has signed or hidden for the next turn', () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Rain.', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'aGlkZGVu' } },
      { text: 'Wet.' },
    ];
    const format = 'anthropic-claude-v1';
    const [choice] = decode(answer(content), CLAUDE).choices;
    expect(choice?.reasoning_content).to.equal('Rain.');
    expect(choice?.reasoning_details).to.deep.equal([
      { type: 'reasoning.text', text: 'Rain.', signature: 'c2ln', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'aGlkZGVu', format, index: 1 },
    ]);
  });

  it('shows unsigned reasoning alone, wherever it stands', () => {
    const content = [{ text: 'Wet.' }, { reasoningContent: { reasoningText: { text: 'Rain.' } } }];
    const [choice] = decode(answer(content), 'us.deepseek.r1-v1:0').choices;
    expect(choice).to.deep.equal({
      index: 0,
      content: 'Wet.',
      reasoning_content: 'Rain.',
      finish_reason: 'stop',
    });
  });

  it('says the input of the tool for a schema as its text, and other calls as calls', () => {
    const json_schema = { name: 'weather', schema: { type: 'object' } };
    const call = { ...CALL, fields: { response_format: { type: 'json_schema', json_schema } } };
    const content = [use('weather', { wet: true })];
    expect(decode(answer(content, 'tool_use'), NOVA, call).choices[0]?.content).to.equal(
      '{"wet":true}',
    );
    const unasked = decode(answer(content, 'tool_use')).choices[0];
    expect(unasked?.tool_calls?.[0]?.function.name).to.equal('weather');
  });

  const usages: [string, object, unknown][] = [
    [
      'each cache once, though it is said twice (quirk 6)',
      {
        inputTokens: 10,
        outputTokens: 4,
        cacheReadInputTokens: 300,
        cacheReadInputTokenCount: 300,
        cacheWriteInputTokens: 20,
        cacheWriteInputTokenCount: 20,
      },
      330,
    ],
    [
      'a cache that is said by its other name',
      { inputTokens: 10, outputTokens: 4, cacheReadInputTokenCount: 5 },
      15,
    ],
    ['nonsense as nonsense', { inputTokens: 10, outputTokens: 4, cacheReadInputTokens: -5 }, -5],
    ['text as text', { inputTokens: '10', outputTokens: 4, cacheReadInputTokens: 5 }, '10'],
    ['nothing as nothing', { outputTokens: 4 }, undefined],
  ];
  for (const [what, usage, prompt_tokens] of usages) {
    it(`counts ${what}`, () => {
      expect(decode(answer([{ text: 'x' }], 'end_turn', usage)).usage).to.deep.include({
        prompt_tokens,
        completion_tokens: 4,
      });
    });
  }

  it('has no usage where there is none', () => {
    expect(decode(answer([{ text: 'x' }])).usage).to.equal(undefined);
  });

  for (const [what, body] of [
    ['text', 'Hello'],
    ['an error of the service', { message: 'Something went wrong' }],
    ['no message', { output: {} }],
    ['nothing that the service could read', answer([], 'malformed_model_output')],
  ] as const) {
    it(`is broken where it is ${what}`, () => {
      expect(() => decode(body))
        .to.throw(UpstreamError)
        .with.property('fault', 'broken');
    });
  }
});
