import { expect } from 'chai';
import { chat } from '../../../providers/bedrock.js';
import type { Encoded } from '../../../src/core/provider.js';
import type { Upstream } from '../../../src/core/model.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const NOVA = 'amazon.nova-lite-v1:0';
const NOVA_2 = 'us.amazon.nova-2-lite-v1:0';
const CLAUDE_3 = 'anthropic.claude-3-haiku-20240307-v1:0';
const CLAUDE_45 = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const CLAUDE_46 = 'us.anthropic.claude-sonnet-4-6';
const CLAUDE_48 = 'global.anthropic.claude-opus-4-8';
const LLAMA = 'meta.llama3-2-1b-instruct-v1:0';
const PROFILE = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3';

const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    strict: true,
  },
};
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };
const SCHEMA = { type: 'object', properties: { wet: { type: 'boolean' } } };
const BY_SCHEMA = { type: 'json_schema', json_schema: { name: 'weather', schema: SCHEMA } };

function encode(
  fields: ChatCall['fields'],
  model = NOVA,
  more: Partial<ChatCall> = {},
  upstream: Partial<Upstream> = {},
): Encoded {
  const call: ChatCall = {
    messages: [{ role: 'user', content: 'Hello' }],
    stream: false,
    n: 1,
    max_tokens: 4_000,
    fields,
    ...more,
  };
  return chat.encode(call, upstreamAt(providerAt('http://fake.invalid'), { model, ...upstream }));
}

describe('a request of Converse', () => {
  it('says no more than it has to', () => {
    expect(encode({})).to.deep.equal({
      path: '/model/amazon.nova-lite-v1%3A0/converse',
      body: {
        messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
        inferenceConfig: { maxTokens: 4_000 },
      },
      ignored: [],
    });
  });

  it('has no limit of tokens where a free model has none', () => {
    expect(encode({}, NOVA, { max_tokens: undefined }).body).to.have.all.keys('messages');
  });

  it('encodes colons and slashes of a model in its path', () => {
    const { path } = encode({}, PROFILE, { stream: true });
    expect(path).to.equal(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3A' +
        'application-inference-profile%2Fa1b2c3/converse-stream',
    );
  });

  it('says how the next token is chosen, with temperatures up to 1', () => {
    const { body } = encode({ temperature: 1.7, top_p: 0.5, stop: 'END', top_k: 20 });
    expect(body.inferenceConfig).to.deep.equal({
      maxTokens: 4_000,
      temperature: 1,
      topP: 0.5,
      stopSequences: ['END'],
    });
    expect(body.additionalModelRequestFields).to.deep.equal({ inferenceConfig: { topK: 20 } });
    const other = encode({ top_k: 20 }, CLAUDE_3).body;
    expect(other.additionalModelRequestFields).to.deep.equal({ top_k: 20 });
  });

  it('names what it leaves out, but not what asks for nothing', () => {
    const { ignored } = encode({
      presence_penalty: 0.5,
      frequency_penalty: 0,
      seed: 7,
      user: 'u-1',
      logprobs: false,
      parallel_tool_calls: true,
      logit_bias: null,
    });
    expect(ignored).to.deep.equal(['presence_penalty', 'seed', 'user']);
  });

  it('leaves sampling out for a Claude model that answers 400 to it (quirk 8)', () => {
    const { body, ignored } = encode({ temperature: 0.5, top_p: 0.9, top_k: 5 }, CLAUDE_48);
    expect(body.inferenceConfig).to.deep.equal({ maxTokens: 4_000 });
    expect(body).to.not.have.property('additionalModelRequestFields');
    expect(ignored).to.deep.equal(['temperature', 'top_p', 'top_k']);
  });

  it('sends one of temperature and top_p where Claude refuses the two together', () => {
    const { body, ignored } = encode({ temperature: 0.5, top_p: 0.9 }, CLAUDE_45);
    expect(body.inferenceConfig).to.deep.equal({ maxTokens: 4_000, temperature: 0.5 });
    expect(ignored).to.deep.equal(['top_p']);
    expect(encode({ top_p: 0.9 }, CLAUDE_45).ignored).to.deep.equal([]);
  });

  it('leaves out stop sequences that are empty, and for Claude those of white space', () => {
    const stop = ['', '\n', 'END'];
    const stops = (model: string): unknown =>
      (encode({ stop }, model).body.inferenceConfig as Record<string, unknown>).stopSequences;
    expect(stops(NOVA)).to.deep.equal(['\n', 'END']);
    expect(stops(CLAUDE_45)).to.deep.equal(['END']);
    expect(encode({ stop }).ignored).to.deep.equal(['stop']);
  });

  it('obeys an operator who renames, sets and drops fields', () => {
    const { body, ignored } = encode(
      { effort: 'low', user: 'u-1', temperature: 1 },
      'openai.gpt-oss-120b-1:0',
      {},
      {
        rename: { effort: 'reasoning_effort' },
        set: {
          temperature: 0.2,
          max_tokens: 1_000_000,
          inferenceConfig: { maxTokens: 1_000_000, topP: 0.1 },
          guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
          performanceConfig: { latency: 'optimized' },
          own: 1,
        },
        drop: ['user'],
      },
    );
    expect(body).to.deep.equal({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      inferenceConfig: { maxTokens: 4_000, temperature: 0.2, topP: 0.1 },
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
      performanceConfig: { latency: 'optimized' },
      additionalModelRequestFields: { reasoning_effort: 'low', own: 1 },
    });
    expect(ignored).to.deep.equal([]);
  });

  it('takes the tools away with a tool_choice that the operator drops', () => {
    const fields = { tools: [WEATHER], tool_choice: 'none' };
    expect(encode(fields, NOVA, {}, { drop: ['tool_choice'] }).body).to.not.have.property(
      'toolConfig',
    );
  });
});

describe('tools in a request of Converse', () => {
  const choices: [unknown, object | undefined][] = [
    [undefined, undefined],
    ['auto', undefined],
    ['required', { any: {} }],
    [{ type: 'function', function: { name: 'weather' } }, { tool: { name: 'weather' } }],
  ];
  for (const [tool_choice, toolChoice] of choices) {
    it(`are offered with the choice ${JSON.stringify(tool_choice)}`, () => {
      const { body } = encode({ tools: [WEATHER], tool_choice }, CLAUDE_45);
      const { name, description, parameters, strict } = WEATHER.function;
      const json = { ...parameters, additionalProperties: false };
      const toolSpec = { name, description, inputSchema: { json }, strict };
      const tools = [{ toolSpec }];
      expect(body.toolConfig).to.deep.equal(toolChoice ? { tools, toolChoice } : { tools });
    });
  }

  it('are left out where none may be called, and calls of before become text (quirk 28)', () => {
    const { body } = encode({ tools: [WEATHER], tool_choice: 'none' }, NOVA, {
      messages: [
        { role: 'user', content: 'Rain?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'a',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Rome"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Dry.' },
      ],
    });
    expect(body).to.not.have.property('toolConfig');
    expect(JSON.stringify(body)).to.not.match(/toolUse|toolResult/u);
    for (const word of ['weather', 'Rome', 'Dry.']) expect(JSON.stringify(body)).to.include(word);
  });

  it('are left out where the list is empty', () => {
    expect(encode({ tools: [] }).body).to.not.have.property('toolConfig');
  });

  it('have a schema and no empty description, and are strict only where a model knows it', () => {
    const bare = { type: 'function', function: { name: 'now', description: ' ', strict: true } };
    const { body, ignored } = encode({ tools: [bare] });
    expect(body.toolConfig).to.deep.equal({
      tools: [
        { toolSpec: { name: 'now', inputSchema: { json: { type: 'object', properties: {} } } } },
      ],
    });
    expect(ignored).to.deep.equal(['tools[].function.strict']);
  });

  it('are refused as unsupported where the model cannot be made to call one, or knows no such choice', () => {
    for (const [model, tool_choice] of [
      [LLAMA, 'required'],
      [CLAUDE_45, { type: 'allowed_tools' }],
    ] as const) {
      expect(() => encode({ tools: [WEATHER], tool_choice }, model))
        .to.throw(UpstreamError)
        .that.includes({ fault: 'unsupported', param: 'tool_choice' });
    }
  });

  it('may be marked for the cache, but not for Nova', () => {
    const tools = [{ ...WEATHER, cache_control: { type: 'ephemeral' } }];
    const claude = encode({ tools }, CLAUDE_45);
    expect(claude.body.toolConfig).to.have.deep.nested.property('tools[1]', {
      cachePoint: { type: 'default' },
    });
    const nova = encode({ tools }, NOVA);
    expect(nova.body).to.have.nested.property('toolConfig.tools.length', 1);
    expect(nova.ignored).to.include('cache_control');
  });

  it('may be of the service, as the client writes them', () => {
    const tools = [{ type: 'system_tool', systemTool: { name: 'nova_grounding' } }];
    expect(encode({ tools }, NOVA_2).body.toolConfig).to.deep.equal({
      tools: [{ systemTool: { name: 'nova_grounding' } }],
    });
  });
});

describe('an answer in the form of a schema, asked of Converse', () => {
  it('is asked for by outputConfig where the model holds to one', () => {
    for (const model of [CLAUDE_45, 'openai.gpt-oss-120b-1:0']) {
      const { body } = encode({ response_format: BY_SCHEMA }, model);
      const schema = JSON.stringify({ ...SCHEMA, additionalProperties: false });
      expect(body.outputConfig).to.deep.equal({
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'weather', schema } },
        },
      });
      expect(body).to.not.have.property('toolConfig');
    }
  });

  it('is asked for by a tool that must be called where the model holds to none', () => {
    for (const model of [NOVA, CLAUDE_3]) {
      const { body } = encode({ response_format: BY_SCHEMA }, model);
      expect(body).to.not.have.property('outputConfig');
      expect(body.toolConfig).to.deep.equal({
        tools: [
          {
            toolSpec: {
              name: 'weather',
              description: 'Gives the answer.',
              inputSchema: { json: SCHEMA },
            },
          },
        ],
        toolChoice: { tool: { name: 'weather' } },
      });
    }
  });

  it('is an instruction beside the tools of the client, and where no tool can be forced', () => {
    for (const [model, tools] of [
      [NOVA, [WEATHER]],
      [LLAMA, []],
    ] as const) {
      const { body } = encode({ response_format: BY_SCHEMA, tools }, model);
      expect(JSON.stringify(body.system)).to.include('wet');
      expect(JSON.stringify(body)).to.not.include('toolChoice');
    }
  });

  it('is an instruction where any JSON will do', () => {
    const { body } = encode({ response_format: { type: 'json_object' } });
    expect(JSON.stringify(body.system)).to.include('JSON object');
    expect(encode({ response_format: { type: 'text' } }).body).to.not.have.property('system');
  });
});

describe('reasoning asked of a model at Bedrock', () => {
  const asked: [string, string, object | undefined][] = [
    [CLAUDE_3, 'high', undefined],
    [CLAUDE_45, 'minimal', { thinking: { type: 'enabled', budget_tokens: 1_024 } }],
    [CLAUDE_45, 'high', { thinking: { type: 'enabled', budget_tokens: 3_200 } }],
    [CLAUDE_46, 'xhigh', { thinking: ADAPTIVE, output_config: { effort: 'max' } }],
    [CLAUDE_48, 'medium', { thinking: ADAPTIVE, output_config: { effort: 'medium' } }],
    [NOVA, 'low', undefined],
    [NOVA_2, 'low', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }],
    [NOVA_2, 'high', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    ['openai.gpt-oss-120b-1:0', 'high', { reasoning_effort: 'high' }],
    ['us.deepseek.r1-v1:0', 'high', undefined],
  ];
  for (const [model, reasoning_effort, due] of asked) {
    it(`of ${model} with the effort ${reasoning_effort} is ${due ? 'said' : 'named'}`, () => {
      const { body, ignored } = encode({ reasoning_effort }, model);
      expect(body.additionalModelRequestFields).to.deep.equal(due);
      expect(ignored).to.deep.equal(due ? [] : ['reasoning_effort']);
    });
  }

  it('is left out where max_tokens is too small for any', () => {
    const { body, ignored } = encode({ reasoning_effort: 'high' }, CLAUDE_45, {
      max_tokens: 1_024,
    });
    expect(body).to.not.have.property('additionalModelRequestFields');
    expect(ignored).to.deep.equal(['reasoning_effort']);
  });

  it('goes as a client of Claude writes it, and then without sampling', () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    const { body, ignored } = encode({ thinking, temperature: 0.5 }, CLAUDE_45);
    expect(body.additionalModelRequestFields).to.deep.equal({ thinking });
    expect(body.inferenceConfig).to.deep.equal({ maxTokens: 4_000 });
    expect(ignored).to.deep.equal(['temperature']);
    expect(encode({ thinking }, NOVA).ignored).to.deep.equal(['thinking']);
  });

  it('goes as the client writes it to a model whose name says nothing', () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    const { body, ignored } = encode({ thinking, reasoning_effort: 'low' }, PROFILE);
    expect(body.additionalModelRequestFields).to.deep.equal({ thinking });
    expect(ignored).to.deep.equal(['reasoning_effort']);
  });

  it('gives way to a tool that must be called, since Claude refuses both', () => {
    const fields = { reasoning_effort: 'high', tools: [WEATHER], tool_choice: 'required' };
    const { body, ignored } = encode(fields, CLAUDE_45);
    expect(body).to.not.have.property('additionalModelRequestFields');
    expect(ignored).to.deep.equal(['reasoning_effort']);
  });

  for (const [how, reasoning_details, isAsked] of [
    ['gives way where', undefined, false],
    [
      'goes on where the signed reasoning of',
      [{ type: 'reasoning.text', text: 'a', signature: 's', format: 'anthropic-claude-v1' }],
      true,
    ],
  ] as const) {
    it(`${how} calls came from ${isAsked ? 'Claude is there' : 'another upstream without any'}`, () => {
      const { body } = encode({ reasoning_effort: 'high', tools: [WEATHER] }, CLAUDE_45, {
        messages: [
          { role: 'user', content: 'Rain?' },
          {
            role: 'assistant',
            content: null,
            ...(reasoning_details && { reasoning_details: [...reasoning_details] }),
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'a', content: 'Dry.' },
        ],
      });
      expect('additionalModelRequestFields' in body).to.equal(isAsked);
    });
  }
});
