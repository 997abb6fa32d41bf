import { expect } from 'chai';
import { chat } from '../../../providers/openai.js';
import type { ToolCallFragment } from '../../../src/modalities/chat/codec.js';
import { completionRequest } from '../../../src/modalities/chat/formats/chat-completion.js';
import { responsesRequest } from '../../../src/modalities/chat/formats/responses-request.js';
import { FREE, modelAt } from '../../billing/helpers/terms.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const grammar = { definition: 'start: "x"', syntax: 'lark' };
const exec = { name: 'exec', description: 'Runs', format: { type: 'grammar', grammar } };
const clock = { type: 'function', function: { name: 'clock' } };
const clockCall = {
  id: 'b',
  type: 'function' as const,
  function: { name: 'clock', arguments: '{}' },
};

/** As the gateway reads it: earlier calls of custom tools are calls of functions by now. */
const { call } = completionRequest(
  {
    model: 'm',
    messages: [
      { role: 'user', content: 'Hello!' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'exec', arguments: '{"input":"ls \\"x\\""}' },
          },
          clockCall,
        ],
      },
      { role: 'tool', content: 'y', tool_call_id: 'a' },
    ],
    tools: [{ type: 'custom', custom: exec }, clock],
    tool_choice: { type: 'custom', custom: { name: 'exec' } },
  },
  modelAt([FREE]),
);

const provider = providerAt('http://127.0.0.1', { wire: { custom_tools: ['gpt-5'] } });
const upstream = (model: string) => upstreamAt(provider, { model });
const sentTo = (model: string): Record<string, unknown> =>
  chat.encode(call, upstream(model)).body as Record<string, unknown>;

describe('custom tools at a model that knows them', () => {
  it('are sent as they were offered, and so are their calls and their choice', () => {
    const sent = sentTo('gpt-5.1');
    expect(sent.tools).to.deep.equal([{ type: 'custom', custom: exec }, clock]);
    expect(sent.tool_choice).to.deep.equal({ type: 'custom', custom: { name: 'exec' } });
    expect(sent.messages).to.have.deep.nested.property('[1].tool_calls', [
      { id: 'a', type: 'custom', custom: { name: 'exec', input: 'ls "x"' } },
      clockCall,
    ]);
  });

  it('are sent with their grammar for a client of the Responses API too', () => {
    const work = responsesRequest(
      {
        model: 'm',
        input: 'Hello!',
        tools: [
          {
            type: 'custom',
            name: 'exec',
            description: 'Runs',
            format: { type: 'grammar', ...grammar },
          },
          {
            type: 'namespace',
            name: 'box',
            tools: [{ type: 'custom', name: 'note', format: { type: 'text' } }],
          },
          { type: 'custom', name: 'odd', format: { type: 'shape' } },
        ],
      },
      modelAt([FREE]),
    );
    const { body } = chat.encode(work.call, upstream('gpt-5.1'));
    expect(body.tools).to.deep.equal([
      { type: 'custom', custom: exec },
      { type: 'custom', custom: { name: 'box__note', format: { type: 'text' } } },
      { type: 'custom', custom: { name: 'odd' } },
    ]);
  });

  it('are functions at any other model of the same provider', () => {
    const sent = sentTo('gpt-4o');
    expect(sent.tool_choice).to.deep.equal({ type: 'function', function: { name: 'exec' } });
    expect(JSON.stringify(sent)).not.to.include('"custom"');
    expect(sent).not.to.have.property('custom_tools');
  });

  it('are called in a whole answer as functions of an input', () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c', type: 'custom', custom: { name: 'exec', input: 'a\n"b"' } },
        clockCall,
      ],
    };
    const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    expect(chat.decode(body, call, upstream('gpt-5.1')).choices[0]?.tool_calls).to.deep.equal([
      {
        id: 'c',
        type: 'function',
        function: { name: 'exec', arguments: '{"input":"a\\n\\"b\\""}' },
      },
      clockCall,
    ]);
  });

  it('are none where a server adds an empty one to a call of a function', () => {
    const said = { ...clockCall, index: 0, custom: { name: '', input: '' } };
    const message = { role: 'assistant', content: null, tool_calls: [said] };
    const whole = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const [choice] = chat.decode(whole, call, upstream('gpt-5.1')).choices;
    expect(choice?.tool_calls).to.deep.equal([clockCall]);
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [said] } }] };
    const fragments: { tool_calls?: ToolCallFragment[] }[] = [];
    const events = [{ event: '', data: JSON.stringify(chunk) }];
    chat.decodeStream(call, upstream('gpt-5.1')).read(events, fragments);
    expect(fragments[0]?.tool_calls?.[0]?.function).to.deep.equal(clockCall.function);
  });

  it('are called in a stream with arguments that are whole at its end', () => {
    const pieces = ['ls "', '\ud83d', '\ude00', '\\n'];
    const [first, ...rest] = pieces.map((input, at) => ({
      index: 0,
      ...(at === 0 && { id: 'c', type: 'custom' }),
      custom: { ...(at === 0 && { name: 'exec' }), input },
    }));
    const other = { ...clockCall, index: 1 };
    const deltas = [[first], rest.slice(0, 1), [...rest.slice(1), other]];
    const chunks = deltas.map((tool_calls) => ({ choices: [{ index: 0, delta: { tool_calls } }] }));
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const events = [...chunks, last, '[DONE]'].map((data) => ({
      event: '',
      data: typeof data === 'string' ? data : JSON.stringify(data),
    }));
    const said: { tool_calls?: ToolCallFragment[] }[] = [];
    chat.decodeStream(call, upstream('gpt-5.1')).read(events, said);
    const fragments = said.flatMap(({ tool_calls = [] }) => tool_calls);
    expect(fragments[0]).to.deep.include({ index: 0, id: 'c', type: 'function' });
    expect(fragments[0]?.function.name).to.equal('exec');
    const argumentsOf = (index: number): string =>
      fragments
        .filter((one) => one.index === index)
        .map((one) => one.function.arguments)
        .join('');
    expect(JSON.parse(argumentsOf(0))).to.deep.equal({ input: pieces.join('') });
    expect(argumentsOf(1)).to.equal('{}');
  });
});
