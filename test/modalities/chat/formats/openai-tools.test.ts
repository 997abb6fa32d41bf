import { expect } from 'chai';
import OpenAI from 'openai';
import { callFormat } from '../../../../src/modalities/chat/formats/openai-calls.js';
import type { ChatRequest } from '../../../../src/modalities/chat/call.js';
import { completionRequest } from '../../../../src/modalities/chat/formats/chat-completion.js';
import type { ChatCompletionBody } from '../../../../src/schema-types/chat-completion.js';
import { FREE, modelAt } from '../../../billing/helpers/terms.js';
import { chat, chunksOf, completionOf, errorOf } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';

const hello = { role: 'user' as const, content: 'Hello!' };
const weather = { name: 'weather', parameters: { type: 'object' } };
const tool = { type: 'function', function: weather };
const twin = { type: 'custom', custom: { name: 'weather' } };
const called = { name: 'weather', arguments: '{"city":"Oslo"}' };
const INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
};

describe("OpenAI's other words for tools", () => {
  let acme: OpenaiGateway;
  before(async () => (acme = await startOpenaiGateway()));
  after(() => acme.close());

  const ask = (fields: object) => chat(acme, { model: 'acme-all', messages: [hello], ...fields });

  it('offers functions as tools, and answers with a function_call', async () => {
    const answer = await ask({ functions: [weather], function_call: 'auto' });
    expect(acme.sent()).to.deep.include({
      tools: [tool],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    });
    expect(acme.sent()).not.to.have.any.keys('functions', 'function_call');
    expect(answer.headers.get('tollgate-ignored')).to.equal(null);
    expect(completionOf(answer).choices).to.deep.equal([
      {
        index: 0,
        message: { role: 'assistant', content: null, function_call: called },
        finish_reason: 'function_call',
      },
    ]);
  });

  it('demands a function by its name', async () => {
    await ask({ functions: [weather], function_call: { name: 'weather' } });
    const { tool_choice } = acme.sent();
    expect(tool_choice).to.deep.equal({ type: 'function', function: { name: 'weather' } });
  });

  it('streams a function_call piece by piece, as the openai package reads it', async () => {
    const client = new OpenAI({ baseURL: `${acme.url}/v1`, apiKey: acme.secret });
    const runner = client.chat.completions.stream({
      model: 'acme-all',
      messages: [hello],
      functions: [weather],
    });
    const [choice] = (await runner.finalChatCompletion()).choices;
    expect(choice?.finish_reason).to.equal('function_call');
    expect(choice?.message.function_call).to.deep.include(called);
  });

  it('takes calls of functions and their results in the history', async () => {
    const messages = [
      hello,
      { role: 'assistant', content: null, function_call: called },
      { role: 'function', name: 'weather', content: 'Rain' },
      { role: 'assistant', content: '', function_call: called },
      { role: 'function', name: 'weather', content: null },
    ];
    completionOf(await ask({ messages, functions: [weather] }));
    const tool_calls = (id: string) => [{ id, type: 'function', function: called }];
    expect(acme.sent().messages).to.deep.equal([
      hello,
      { role: 'assistant', content: null, tool_calls: tool_calls('call_1') },
      { role: 'tool', content: 'Rain', tool_call_id: 'call_1' },
      { role: 'assistant', content: '', tool_calls: tool_calls('call_3') },
      { role: 'tool', content: '', tool_call_id: 'call_3' },
    ]);
  });

  it('names functions as ignored where the model takes no tools', async () => {
    const asked = { model: 'acme-chat', functions: [weather], function_call: 'auto' };
    const answer = await ask(asked);
    expect(answer.headers.get('tollgate-ignored')).to.equal('functions, function_call');
    expect(completionOf(answer).choices[0]?.finish_reason).to.equal('stop');
  });

  const REFUSED: [string, object, string][] = [
    ['functions beside tools', { functions: [weather], tools: [tool] }, 'functions'],
    ['a function without a name', { functions: [{}] }, 'functions[0].name'],
    ['a function_call without functions', { function_call: { name: 'x' } }, 'function_call'],
    ['an odd function_call', { functions: [weather], function_call: 'x' }, 'function_call'],
    ['a custom tool without a word', { tools: [{ type: 'custom' }] }, 'tools[0].custom'],
    ['custom tools of one name', { tools: [twin, twin] }, 'tools[1]'],
    ['a function with the name of a custom tool', { tools: [twin, tool] }, 'tools[1]'],
    ['allowed tools in no list', { tools: [tool], ...allowed({}) }, 'tool_choice.allowed_tools'],
  ];
  for (const [what, fields, param] of REFUSED) {
    it(`refuses ${what}`, async () => {
      const answer = await ask(fields);
      expect([answer.status, errorOf(answer).param]).to.deep.equal([400, param]);
    });
  }

  it('sends no fields of a format that the hold has not measured', async () => {
    const grammar = { definition: 'start: "x"', syntax: 'lark', more: 'x'.repeat(99) };
    const work = completionRequest(
      {
        model: 'm',
        messages: [hello],
        tools: [
          { type: 'custom', custom: { name: 'a', format: { type: 'grammar', grammar, more: 1 } } },
          { type: 'custom', custom: { name: 'b', format: { type: 'text', more: 'x' } } },
          { type: 'custom', custom: { name: 'c', format: { type: 'other', more: 'x' } } },
        ],
      },
      modelAt([FREE]),
    );
    const { definition, syntax } = grammar;
    expect([...(work.call.custom_tools?.values() ?? [])]).to.deep.equal([
      { name: 'a', format: { type: 'grammar', grammar: { syntax, definition } } },
      { name: 'b', format: { type: 'text' } },
      { name: 'c' },
    ]);
    expect(work.ignored).to.include('tools[].custom.format');
  });

  it('offers custom tools as functions of a text, and answers with custom calls', async () => {
    const grammar = { definition: 'start: "x"', syntax: 'lark' };
    const custom = { name: 'weather', description: 'Asks', format: { type: 'grammar', grammar } };
    const tool_choice = { type: 'custom', custom: { name: 'weather' } };
    const answer = await ask({ tools: [{ type: 'custom', custom }], tool_choice });
    const description = 'Asks\n\nThe input follows this grammar:\nstart: "x"';
    expect(acme.sent()).to.deep.include({
      tools: [{ type: 'function', function: { name: 'weather', description, parameters: INPUT } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
    expect(completionOf(answer).choices[0]?.message.tool_calls).to.deep.equal([
      { id: 'call_1', type: 'custom', custom: { name: 'weather', input: called.arguments } },
    ]);
    const tools = [{ type: 'custom', custom: { name: 'weather', description: null } }];
    const deltas = chunksOf(await ask({ tools, stream: true })).flatMap(({ choices }) =>
      choices.flatMap(({ delta }) => (delta as { tool_calls?: object[] }).tool_calls ?? []),
    );
    expect(deltas).to.deep.equal([
      { index: 0, id: 'call_1', type: 'custom', custom: { name: 'weather', input: '' } },
      { index: 0, custom: { input: called.arguments } },
    ]);
  });

  it('takes calls of custom tools in the history', async () => {
    const custom = { name: 'exec', input: 'ls "x"' };
    const messages = [
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'custom', custom }] },
      { role: 'tool', content: 'y', tool_call_id: 'a' },
    ];
    completionOf(await ask({ messages }));
    const call = { name: 'exec', arguments: '{"input":"ls \\"x\\""}' };
    expect(acme.sent().messages).to.deep.equal([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: call }],
      },
      { role: 'tool', content: 'y', tool_call_id: 'a' },
    ]);
  });

  it('offers allowed tools alone', async () => {
    const other = { type: 'function', function: { name: 'other' } };
    const tools = [tool, other];
    await ask({ tools, ...allowed({ mode: 'required', tools: [tool] }) });
    expect(acme.sent()).to.deep.include({ tools: [tool], tool_choice: 'required' });
  });

  function allowed(allowed_tools: object): object {
    return { tool_choice: { type: 'allowed_tools', allowed_tools } };
  }
});

describe('the calls of custom tools and functions in one stream', () => {
  const custom = { type: 'custom', custom: { name: 'exec' } };
  const body: ChatCompletionBody = { model: 'm', messages: [hello], tools: [custom, tool] };
  const work: ChatRequest = completionRequest(body, modelAt([FREE]));

  it('are told apart, and an input is told once it is whole', () => {
    const deltas = callFormat(work).deltas();
    const fn = (index: number, args: string, name?: string) => ({
      index,
      ...(name !== undefined && { id: `call_${index}`, type: 'function' as const }),
      function: { ...(name !== undefined && { name }), arguments: args },
    });
    const opening = { index: 0, id: 'call_0', type: 'custom', custom: { name: 'exec', input: '' } };
    expect(deltas.write([fn(0, '{"inp', 'exec')])).to.deep.equal({ tool_calls: [opening] });
    expect(deltas.write([fn(0, 'ut":"l')])).to.equal(undefined);
    const other = fn(1, '{}', 'weather');
    expect(deltas.write([fn(0, 's"}'), other])).to.deep.equal({ tool_calls: [other] });
    expect(deltas.end()).to.deep.equal({ tool_calls: [{ index: 0, custom: { input: 'ls' } }] });
  });
});
