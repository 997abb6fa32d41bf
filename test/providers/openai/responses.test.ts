import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { chat as wire_codec } from '../../../providers/openai.js';
import type { Upstream } from '../../../src/core/model.js';
import type { ChatCall, ChatReply } from '../../../src/modalities/chat/codec.js';
import { StreamReader, EventReader } from '../../../src/upstream/sse.js';
import { UsageReport } from '../../../src/modalities/chat/usage-report.js';
import { readWhole } from '../../../src/modalities/chat/whole-reply.js';
import { each } from '../../helpers/packets.js';
import { eventsOf, type ResponsesAnswer } from '../../helpers/responses-server.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';
import { preparedCodec } from '../../../src/modalities/chat/prepared-codec.js';

const chat = preparedCodec(wire_codec);

type Fields = Record<string, unknown>;

const MANIFEST = new URL('../../../providers/openai.yaml', import.meta.url);
const { wire } = parse(readFileSync(MANIFEST, 'utf8')) as { wire: Fields };
const PROVIDER = providerAt('http://fake.invalid', { wire, name: 'main' });
const TOOLS = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }];
const FORMAT = 'openai-responses/main';
const CALL: ChatCall = {
  messages: [{ role: 'user', content: 'Hi' }],
  stream: false,
  n: 1,
  max_tokens: 99,
  fields: { tools: TOOLS },
};

function at(model: string, more: Partial<Upstream> = {}): Upstream {
  return upstreamAt(PROVIDER, { model, ...more });
}

/** The path, the body and the ignored fields of a call to the model. */
function sent(model: string, call: Partial<ChatCall>, more: Partial<Upstream> = {}) {
  const { path, body, ignored = [] } = chat.encode({ ...CALL, ...call }, at(model, more));
  return { path, body, ignored };
}

function pathFor(model: string, call: Partial<ChatCall>, more: Partial<Upstream> = {}): string {
  return sent(model, call, more).path || '/chat/completions';
}

describe('the wire of a call to OpenAI', () => {
  const low = { tools: TOOLS, reasoning_effort: 'low' };
  const none = { tools: TOOLS, reasoning_effort: 'none' };
  const ROWS: [title: string, model: string, call: Partial<ChatCall>, isThere: boolean][] = [
    ['tools with a model that reasons by default', 'gpt-5.5', {}, true],
    ['tools with a model that reasons by default', 'gpt-5.6-terra', { stream: true }, true],
    ['tools and an effort', 'gpt-5.4', { fields: low }, true],
    ['tools with a model that reasons only if asked', 'gpt-5.4', {}, false],
    ['tools without reasoning', 'gpt-5.5', { fields: none }, false],
    ['no tools', 'gpt-5.5', { fields: { reasoning_effort: 'high' } }, false],
    ['tools with an older model', 'gpt-5.2', { fields: low }, false],
    ['tools and several answers', 'gpt-5.5', { n: 2 }, false],
    ['tools and stop sequences', 'gpt-5.5', { fields: { ...low, stop: ['END'] } }, false],
    ['tools and a limit below the least', 'gpt-5.5', { max_tokens: 15 }, false],
    ['tools without a limit', 'gpt-5.5', { max_tokens: undefined }, true],
    ['anything', 'gpt-5.4-pro', { fields: {} }, true],
    ['anything', 'gpt-5.3-codex', { fields: {} }, true],
    ['anything', 'gpt-5.1-codex-mini', { fields: {} }, true],
    ['anything', 'o3-pro-2025-06-10', { fields: {} }, true],
    ['anything', 'codex-mini-latest', { fields: {} }, true],
    ['anything', 'gpt-4o', { fields: low }, false],
    ['anything', 'my-prototype', { fields: low }, false],
  ];
  for (const [title, model, call, isThere] of ROWS) {
    it(`is ${isThere ? 'the Responses API' : 'chat completions'} for ${title} at ${model}`, () => {
      expect(pathFor(model, call)).to.equal(isThere ? '/responses' : '/chat/completions');
    });
  }

  it('follows an effort that the operator sets or drops', () => {
    const set = { reasoning_effort: 'none' };
    expect(pathFor('gpt-5.5', { fields: low }, { set })).to.equal('/chat/completions');
    const drop = ['reasoning_effort'];
    expect(pathFor('gpt-5.4', { fields: low }, { drop })).to.equal('/chat/completions');
    expect(pathFor('gpt-5.5', { fields: none }, { drop })).to.equal('/responses');
  });

  it('is chat completions at a provider without the flag', () => {
    const upstream = upstreamAt(providerAt('http://fake.invalid'), { model: 'gpt-5.4-pro' });
    expect(chat.encode(CALL, upstream).path).to.equal('');
  });
});

describe('a request of the Responses API', () => {
  it('stores nothing, asks for the state of reasoning, and leaves the padding out', () => {
    expect(sent('gpt-5.5', { stream: true })).to.deep.equal({
      path: '/responses',
      body: {
        model: 'gpt-5.5',
        input: [{ type: 'message', role: 'user', content: 'Hi' }],
        stream: true,
        store: false,
        include: ['reasoning.encrypted_content'],
        max_output_tokens: 99,
        stream_options: { include_obfuscation: false },
        tools: [{ type: 'function', name: 'add', parameters: { type: 'object' }, strict: false }],
      },
      ignored: [],
    });
  });

  it('has the fields of chat completions in their other places', () => {
    const schema = { type: 'object' };
    const fields = {
      tools: [
        { type: 'function', function: { name: 'now', description: 'Tells', strict: true } },
        { type: 'web_search', filters: {} },
      ],
      tool_choice: { type: 'function', function: { name: 'now' } },
      parallel_tool_calls: false,
      reasoning_effort: 'high',
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
      user: 'ann',
      prompt_cache_key: 'k',
      seed: 7,
      temperature: 0.2,
      top_p: 1,
    };
    const { body, ignored } = sent('gpt-5.5', { fields });
    expect(body).to.deep.include({
      tools: [
        {
          type: 'function',
          name: 'now',
          description: 'Tells',
          strict: true,
          parameters: { type: 'object', properties: {} },
        },
        { type: 'web_search', filters: {} },
      ],
      tool_choice: { type: 'function', name: 'now' },
      parallel_tool_calls: false,
      reasoning: { effort: 'high' },
      text: { format: { type: 'json_schema', name: 'x', schema, strict: true }, verbosity: 'low' },
      user: 'ann',
      prompt_cache_key: 'k',
    });
    expect(body).to.not.have.any.keys('seed', 'temperature', 'top_p', 'response_format');
    expect(ignored).to.have.members(['seed', 'temperature']);
  });

  it('has neither an empty text nor the default format', () => {
    const { body } = sent('gpt-5-pro', { fields: { response_format: { type: 'text' } } });
    expect(body).to.not.have.any.keys('text', 'tools', 'reasoning');
    const json = sent('gpt-5-pro', { fields: { response_format: { type: 'json_object' } } });
    expect(json.body.text).to.deep.equal({ format: { type: 'json_object' } });
  });

  it('takes what the operator sets, in the words of either wire, but no price', () => {
    const set = {
      reasoning_effort: 'high',
      reasoning: { summary: 'auto' },
      verbosity: 'low',
      truncation: 'auto',
      max_tokens: 1e6,
      max_output_tokens: 1e6,
      model: 'x',
      stream: true,
    };
    const { body } = sent(
      'gpt-5.5',
      { fields: { tools: TOOLS, reasoning_effort: 'low' } },
      { set },
    );
    expect(body).to.deep.include({
      model: 'gpt-5.5',
      stream: false,
      max_output_tokens: 99,
      reasoning: { effort: 'high', summary: 'auto' },
      text: { verbosity: 'low' },
      truncation: 'auto',
    });
    expect(body).to.not.have.any.keys('max_tokens', 'reasoning_effort', 'verbosity');
  });

  it('fits the effort to the model', () => {
    const effort = (model: string, reasoning_effort: string): unknown =>
      sent(model, { fields: { reasoning_effort } }).body.reasoning;
    expect(effort('gpt-5-pro', 'low')).to.deep.equal({ effort: 'high' });
    expect(effort('gpt-5.4-pro', 'low')).to.deep.equal({ effort: 'medium' });
    expect(effort('gpt-5.1-codex-mini', 'xhigh')).to.deep.equal({ effort: 'high' });
    expect(effort('gpt-5.1-codex-max', 'xhigh')).to.deep.equal({ effort: 'xhigh' });
    expect(effort('gpt-5.3-codex', 'none')).to.deep.equal({ effort: 'low' });
    expect(effort('o3-pro', 'minimal')).to.deep.equal({ effort: 'low' });
  });

  for (const [param, call] of [
    ['n', { n: 2 }],
    ['max_tokens', { max_tokens: 15 }],
    ['stop', { fields: { stop: ['END'] } }],
  ] as const) {
    it(`refuses ${param} for a model that is served there alone`, () => {
      expect(() => sent('gpt-5.4-pro', call))
        .to.throw()
        .that.includes({ fault: 'unsupported', param });
    });
  }
});

describe('tools that the Responses API runs', () => {
  const search = { type: 'web_search' };
  const price = {
    free: false,
    input_nano_per_million: 1n,
    output_nano_per_million: 1n,
    per_tool_call: new Map([['web_search', 1n]]),
  };
  const ROWS: [title: string, tools: object[], most: number][] = [
    ['as the call says', [search], 10],
    ['as the tool says', [{ ...search, max_uses: 2 }], 2],
    ['as the call says, for less than none', [{ ...search, max_uses: -5 }], 10],
    ['never, as the tool says', [{ ...search, max_uses: 0 }], 0],
    ['as that says which may run least', [{ ...search, max_uses: 2 }, search], 2],
  ];
  for (const [title, tools, max_tool_calls] of ROWS) {
    it(`run as often ${title}`, () => {
      const call = { fields: { tools }, max_tool_calls: 10 };
      const { path, body } = sent('gpt-4.1', call, { price });
      expect(path).to.equal('/responses');
      expect(body).to.deep.include({ max_tool_calls });
    });
  }
});

describe('the conversation in a request of the Responses API', () => {
  const call = (id: string, name: string, args: string) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: args },
  });
  const state = (data: string, format = FORMAT) => ({ type: 'reasoning.encrypted', data, format });
  const input = (messages: ChatCall['messages'], more: Partial<ChatCall> = {}) =>
    sent('gpt-5.5', { messages, ...more });

  it('has messages, calls and results as items', () => {
    const { body, ignored } = input([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Add' }], name: 'ann' },
      { role: 'assistant', content: 'Yes.', tool_calls: [call('a~ts~x', 'add', '{"n":1}')] },
      { role: 'tool', tool_call_id: 'a~ts~x', content: '2', is_error: true },
      { role: 'assistant', content: [{ type: 'text', text: 'Two.' }] },
      { role: 'assistant', content: null },
    ]);
    expect(body.input).to.deep.equal([
      { type: 'message', role: 'system', content: 'Be brief.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Add' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] },
      { type: 'function_call', call_id: 'a', name: 'add', arguments: '{"n":1}' },
      { type: 'function_call_output', call_id: 'a', output: '2' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Two.' }] },
    ]);
    expect(ignored).to.have.members(['messages[].name', 'messages[].is_error']);
  });

  it('sends images and files, of results too', () => {
    const image_url = { url: 'https://x.test/a.png', detail: 'high' as const };
    const parts = [
      { type: 'text' as const, text: 'See', cache_control: { type: 'ephemeral' as const } },
      { type: 'image_url' as const, image_url },
      { type: 'file' as const, file: { file_data: 'https://x.test/a.pdf' } },
      { type: 'file' as const, file: { file_data: 'data:x', filename: 'a.pdf' } },
      { type: 'file' as const, file: { file_id: 'file-1' } },
    ];
    const items = [
      { type: 'input_text', text: 'See' },
      { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'high' },
      { type: 'input_file', file_url: 'https://x.test/a.pdf' },
      { type: 'input_file', file_data: 'data:x', filename: 'a.pdf' },
      { type: 'input_file', file_id: 'file-1' },
    ];
    const { body, ignored } = input([
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [call('a', 'add', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: parts },
    ]);
    expect(body.input).to.have.deep.nested.property('[0].content', items);
    expect(body.input).to.have.deep.nested.property('[2].output', items);
    expect(ignored).to.deep.equal(['messages[].content[].cache_control']);
  });

  it('refuses audio, and an image that the assistant is to have said', () => {
    const audio = { type: 'input_audio' as const, input_audio: { data: '', format: 'wav' } };
    expect(() => input([{ role: 'user', content: [audio] }]))
      .to.throw()
      .that.includes({ fault: 'unsupported', param: 'messages[0].content[0]' });
    expect(() => input([{ role: 'assistant', content: [audio] }]))
      .to.throw()
      .that.includes({ fault: 'unsupported', param: 'messages[0].content[0]' });
  });

  it('sends the state of reasoning back before the text and calls that follow it', () => {
    const said = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'x' }],
    };
    const called = { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' };
    const thought = (encrypted_content: string) => ({
      type: 'reasoning',
      summary: [],
      encrypted_content,
    });
    const reasoning_details = [state('1'), state('2')];
    const tool_calls = [call('a', 'add', '{}')];
    const items = (message: object): unknown =>
      input([{ role: 'assistant', content: null, reasoning_details, ...message }]).body.input;
    expect(items({ tool_calls })).to.deep.equal([thought('1'), thought('2'), called]);
    expect(items({ content: 'x' })).to.deep.equal([thought('1'), thought('2'), said]);
    expect(items({ content: 'x', tool_calls })).to.deep.equal([
      thought('1'),
      said,
      thought('2'),
      called,
    ]);
    expect(items({})).to.deep.equal([]);
  });

  it('sends no state back that another account or another kind of upstream has made', () => {
    const details = [state('1', 'openai-responses/other'), state('2', 'anthropic-claude-v1')];
    const { body } = input([{ role: 'assistant', content: 'x', reasoning_details: details }]);
    expect(body.input).to.have.length(1);
  });

  it('has custom tools, their calls and their results in their own form', () => {
    const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } };
    const { body } = input(
      [
        { role: 'assistant', content: null, tool_calls: [call('a', 'exec', '{"input":"ls"}')] },
        { role: 'tool', tool_call_id: 'a', content: 'y' },
      ],
      {
        fields: {
          tools: [{ type: 'function', function: { name: 'exec' } }],
          tool_choice: { type: 'function', function: { name: 'exec' } },
        },
        custom_tools: new Map([['exec', { name: 'exec', description: 'Runs', format }]]),
      },
    );
    expect(body).to.deep.include({
      input: [
        { type: 'custom_tool_call', call_id: 'a', name: 'exec', input: 'ls' },
        { type: 'custom_tool_call_output', call_id: 'a', output: 'y' },
      ],
      tools: [
        {
          type: 'custom',
          name: 'exec',
          description: 'Runs',
          format: { type: 'grammar', syntax: 'lark', definition: 'x' },
        },
      ],
      tool_choice: { type: 'custom', name: 'exec' },
    });
  });
});

const UPSTREAM = at('gpt-5.5');
const LIMITS = { event_bytes: 1_000_000, stream_bytes: 1_000_000 };

function whole(answer: ResponsesAnswer): ChatReply {
  const { output, status = 'completed', reason } = answer;
  const usage = { input_tokens: 4, output_tokens: 3 };
  const body = { status, incomplete_details: reason ? { reason } : null, output, usage };
  return chat.decode(body, CALL, UPSTREAM);
}

function read(events: readonly object[]): Promise<ChatReply> {
  const packets = events.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  const report = new UsageReport(0, 1);
  const decoder = report.noting(chat.decodeStream({ ...CALL, stream: true }, UPSTREAM));
  const reader = new StreamReader(each(packets), new EventReader(LIMITS), decoder);
  return readWhole(reader, undefined, report);
}

const message = (...texts: string[]) => ({
  type: 'message',
  id: 'msg_1',
  content: texts.map((text) => ({ type: 'output_text', text })),
});
const thought = (data: string, ...texts: string[]) => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: texts.map((text) => ({ type: 'summary_text', text })),
  encrypted_content: data,
});
const called = (call_id: string, args: string) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id,
  name: 'add',
  arguments: args,
});
const custom = (call_id: string, input: string) => ({
  type: 'custom_tool_call',
  id: 'ctc_1',
  call_id,
  name: 'exec',
  input,
});

describe('an answer of the Responses API', () => {
  it('has its text, calls, reasoning and usage in the form of chat completions', () => {
    const output = [
      thought('s1', 'Hm.', 'So.'),
      message('I ', 'add.'),
      thought('s2'),
      called('a', '{"n":1}'),
      custom('b', 'ls "x"'),
      { type: 'web_search_call' },
    ];
    expect(whole({ output })).to.deep.equal({
      choices: [
        {
          index: 0,
          content: 'I add.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'add', arguments: '{"n":1}' } },
            {
              id: 'b',
              type: 'function',
              function: { name: 'exec', arguments: '{"input":"ls \\"x\\""}' },
            },
          ],
          reasoning_content: 'Hm.\n\nSo.',
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 's1', format: FORMAT, index: 0 },
            { type: 'reasoning.encrypted', data: 's2', format: FORMAT, index: 2 },
          ],
          hosted_parts: [{ api: 'responses', part: { type: 'web_search_call' }, at: 6, after: 2 }],
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 4,
        completion_tokens: 3,
        prompt_tokens_details: {},
        tool_calls: { web_search: 1 },
      },
    });
  });

  it('counts cached and reasoning tokens', () => {
    const usage = {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 3 },
    };
    const body = { status: 'completed', output: [message('Hi')], usage };
    expect(chat.decode(body, CALL, UPSTREAM).usage).to.deep.equal({
      prompt_tokens: 9,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 3 },
    });
    const bare = { status: 'completed', output: [message('Hi')] };
    expect(chat.decode(bare, CALL, UPSTREAM).usage).to.equal(undefined);
  });

  it('ends as it was cut off, or with its refusal', () => {
    const cut = whole({
      output: [message('Hi')],
      status: 'incomplete',
      reason: 'max_output_tokens',
    });
    expect(cut.choices[0]).to.include({ content: 'Hi', finish_reason: 'length' });
    const filtered = whole({ output: [], status: 'incomplete', reason: 'content_filter' });
    expect(filtered.choices[0]).to.include({ content: '', finish_reason: 'content_filter' });
    const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] };
    expect(whole({ output: [refusal] }).choices[0]).to.include({
      content: 'No.',
      is_refusal: true,
      finish_reason: 'stop',
    });
  });

  it('that failed, that has no end or that is none at all is an error', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down' };
    const decode = (body: unknown) => () => chat.decode(body, CALL, UPSTREAM);
    expect(decode({ status: 'failed', error, output: [] }))
      .to.throw()
      .that.includes({
        fault: 'rate_limited',
      });
    for (const body of [{ status: 'in_progress', output: [] }, { status: 'completed' }, 'x']) {
      expect(decode(body)).to.throw().that.includes({ fault: 'broken' });
    }
  });
});

describe('a stream of the Responses API', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
  const item = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 2 }).map((texts) => message(...texts)),
    fc
      .tuple(word, fc.array(word, { maxLength: 2 }))
      .map(([data, texts]) => thought(data, ...texts)),
    fc.tuple(word, word).map(([id, text]) => called(id, JSON.stringify({ text }))),
    fc.tuple(word, word).map(([id, text]) => custom(id, text)),
    fc.constant({ type: 'web_search_call' }),
  );

  it('gives the same answer as the whole, wherever its pieces begin', async () => {
    const outputs = fc.array(item, { minLength: 1, maxLength: 6 });
    const usage = { input_tokens: 4, output_tokens: 3 };
    await fc.assert(
      fc.asyncProperty(outputs, fc.integer({ min: 1, max: 9 }), async (output, size) => {
        expect(await read(eventsOf({ output, usage }, size))).to.deep.equal(whole({ output }));
      }),
    );
  });

  it('gives the same answer where items come only when they are done', async () => {
    const output = [thought('s'), message('Hi'), called('a', '{"n":1}'), custom('b', 'ls')];
    const usage = { input_tokens: 4, output_tokens: 3 };
    const events = eventsOf({ output, usage }).filter(
      ({ type }) => type === 'response.output_item.done' || type === 'response.completed',
    );
    expect(await read(events)).to.deep.equal(whole({ output }));
  });

  it('ends the input of a custom call that was cut off', async () => {
    const events = eventsOf({
      output: [custom('b', 'ls -l')],
      status: 'incomplete',
      reason: 'max_output_tokens',
    }).filter(({ type }) => type !== 'response.output_item.done');
    const { choices } = await read(events);
    expect(choices[0]?.tool_calls?.[0]?.function.arguments).to.equal('{"input":"ls -l"}');
    expect(choices[0]?.finish_reason).to.equal('length');
  });

  it('that breaks off, or that never begins, is broken', async () => {
    const [first, ...events] = eventsOf({ output: [message('Hi')] });
    const cut = await read([first ?? {}, ...events.slice(0, -1)]).catch((error: unknown) => error);
    expect(cut).to.include({ fault: 'broken', message: "The upstream's stream broke off." });
    const none = await read([]).catch((error: unknown) => error);
    expect(none).to.include({ fault: 'broken' });
    const garbage = await read([[1]]).catch((error: unknown) => error);
    expect(garbage).to.include({ fault: 'broken' });
  });

  it('that fails has the fault that its error names', async () => {
    const error = { code: 'server_is_overloaded', message: 'Later' };
    const failed = { type: 'response.failed', response: { status: 'failed', error } };
    expect(await read([failed]).catch((fault: unknown) => fault)).to.include({
      fault: 'overloaded',
    });
    const bare = { type: 'response.failed', response: { status: 'failed', error: null } };
    expect(await read([bare]).catch((fault: unknown) => fault)).to.include({ fault: 'broken' });
    const event = { type: 'error', code: 'rate_limit_exceeded', message: 'Slow', param: null };
    expect(await read([event]).catch((fault: unknown) => fault)).to.include({
      fault: 'rate_limited',
    });
  });
});
