import { expect } from 'chai';
import { chat } from '../../providers/openai.js';
import { answer } from '../../providers/simulator.js';
import type { ChatCall, ChatDelta, ChatReply } from '../../src/modalities/chat/codec.js';
import type { Provider, WireReply } from '../../src/core/provider.js';
import { StreamReader, EventReader } from '../../src/upstream/sse.js';
import { classifyError } from '../../src/upstream/classify-error.js';
import { createNetwork } from '../../src/upstream/network.js';
import { readJson, readText } from '../../src/upstream/upstream-request.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

const LIMITS = { event_bytes: 100_000, stream_bytes: 1_000_000 };
const CALL: ChatCall = {
  messages: [{ role: 'user', content: 'What does the toll cost?' }],
  stream: false,
  n: 1,
  max_tokens: 200,
  fields: {},
};
const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['C', 'F'] },
        days: { type: 'integer', minimum: 3 },
        where: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
        note: { type: 'string' },
      },
      required: ['city', 'unit', 'days', 'where'],
    },
  },
};
const ASKING: Partial<ChatCall> = {
  messages: [{ role: 'user', content: 'Please call get_weather.' }],
  fields: { tools: [WEATHER] },
};

describe('the simulator', () => {
  const network = createNetwork({ connections: 1, idle_ms: 30_000 });
  after(() => network.close());

  function provider(settings: Record<string, unknown> = {}): Provider {
    return providerAt('http://simulator.invalid', { local: { answer, settings } });
  }

  function send(call: ChatCall, to: Provider, signal = new AbortController().signal) {
    const body = JSON.stringify(chat.encode(call, upstreamAt(to)).body);
    const request = { method: 'POST' as const, path: '/chat/completions', headers: {}, body };
    return network.send(to, request, signal);
  }

  async function ask(change: Partial<ChatCall> = {}, settings = {}): Promise<ChatReply> {
    const to = provider(settings);
    const call = { ...CALL, ...change };
    return chat.decode(await readJson(await send(call, to), 100_000), call, upstreamAt(to));
  }

  async function stream(change: Partial<ChatCall> = {}, settings = {}): Promise<ChatDelta[]> {
    const to = provider(settings);
    const call = { ...CALL, ...change, stream: true };
    const decoder = chat.decodeStream(call, upstreamAt(to));
    const reader = new StreamReader((await send(call, to)).body, new EventReader(LIMITS), decoder);
    const deltas: ChatDelta[] = [];
    for (let batch; (batch = await reader.next());) deltas.push(...batch);
    return deltas;
  }

  const text = (reply: ChatReply, at = 0): string => reply.choices[at]?.content ?? '';
  const streamed = (deltas: ChatDelta[], at = 0): string =>
    deltas.map(({ index, content }) => (index === at ? (content ?? '') : '')).join('');

  it('says a few sentences, the same to the same request', async () => {
    const first = await ask();
    expect(text(first)).to.include('What does the toll cost?');
    expect(text(first).split(/[.;?] /u)).to.have.length.above(3);
    expect(await ask()).to.deep.equal(first);
    const other = { messages: [{ role: 'user' as const, content: 'And the horse?' }] };
    expect(text(await ask(other))).to.not.equal(text(first));
  });

  it('streams what it says whole, word by word, with the same usage', async () => {
    const whole = await ask();
    const deltas = await stream();
    expect(streamed(deltas)).to.equal(text(whole));
    expect(deltas.filter(({ content }) => content !== undefined)).to.have.length.above(20);
    expect(deltas.find(({ usage }) => usage)?.usage).to.deep.equal(whole.usage);
    expect(deltas.at(-1)).to.deep.equal({ index: 0, finish_reason: 'stop' });
  });

  it('sends no usage in a stream that does not ask for it', async () => {
    const body = JSON.stringify({ model: 'm', messages: CALL.messages, stream: true });
    const request = { method: 'POST' as const, path: '', headers: {}, body };
    const reply = await network.send(provider(), request, new AbortController().signal);
    expect(await readText(reply, 100_000))
      .to.match(/\[DONE\]\n\n$/u)
      .and.not.include('"usage"');
  });

  it('counts the tokens that it said, and no more than max_tokens', async () => {
    const reply = await ask({ max_tokens: 7 });
    expect(text(reply).trim().split(/\s+/u)).to.have.length(7);
    expect(reply.choices[0]?.finish_reason).to.equal('length');
    expect(reply.usage).to.deep.include({ completion_tokens: 7 });
    expect((await stream({ max_tokens: 7 })).at(-1)?.finish_reason).to.equal('length');
  });

  it('counts more for a longer prompt', async () => {
    const long = { messages: [{ role: 'user' as const, content: 'word '.repeat(400) }] };
    const short = (await ask()).usage as { prompt_tokens: number };
    expect((await ask(long)).usage)
      .to.have.property('prompt_tokens')
      .above(short.prompt_tokens + 400);
  });

  it('stops before a stop sequence', async () => {
    const whole = text(await ask());
    const reply = await ask({ fields: { stop: ['never said', 'toll'] } });
    expect(text(reply)).to.equal(whole.slice(0, whole.indexOf('toll')));
    expect(reply.choices[0]?.finish_reason).to.equal('stop');
  });

  it('gives n different answers, billed together', async () => {
    const reply = await ask({ n: 3, max_tokens: 5 });
    expect(new Set([0, 1, 2].map((at) => text(reply, at))).size).to.equal(3);
    expect(reply.usage).to.deep.include({ completion_tokens: 15 });
    const deltas = await stream({ n: 3, max_tokens: 5 });
    expect([0, 1, 2].map((at) => streamed(deltas, at))).to.deep.equal(
      [0, 1, 2].map((at) => text(reply, at)),
    );
  });

  it('notices images and recordings', async () => {
    const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AA' } };
    const sound = { type: 'input_audio' as const, input_audio: { data: 'AA', format: 'wav' } };
    const said = text(await ask({ messages: [{ role: 'user', content: [image, image, sound] }] }));
    expect(said).to.include('2 images').and.to.include('one recording');
  });

  it('calls a tool that is mentioned, with arguments of the right types', async () => {
    const reply = await ask(ASKING);
    const [call] = reply.choices[0]?.tool_calls ?? [];
    expect(reply.choices[0]).to.deep.include({ content: null, finish_reason: 'tool_calls' });
    expect(call?.function.name).to.equal('get_weather');
    const args: unknown = JSON.parse(call?.function.arguments ?? '');
    expect(args).to.deep.equal({ city: 'example', unit: 'C', days: 3, where: { x: 1 } });
    const deltas = await stream(ASKING);
    const fragments = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(fragments.map((part) => part.function.arguments).join('')).to.equal(
      call?.function.arguments,
    );
    expect(fragments[0]).to.deep.include({ id: call?.id, type: 'function' });
  });

  it('calls no tool when told so, nor one that has just answered', async () => {
    const none = await ask({ ...ASKING, fields: { tools: [WEATHER], tool_choice: 'none' } });
    expect(none.choices[0]).to.not.have.property('tool_calls');
    const asked = ASKING.messages ?? [];
    const answered = [...asked, { role: 'tool' as const, content: 'rain', tool_call_id: 'x' }];
    const reply = await ask({ ...ASKING, messages: answered });
    expect(reply.choices[0]).to.not.have.property('tool_calls');
  });

  it('calls what tool_choice demands, and the first tool where it only demands one', async () => {
    const other = { type: 'function', function: { name: 'clock' } };
    const tools = [other, WEATHER];
    const called = async (tool_choice: unknown): Promise<unknown> => {
      const reply = await ask({ fields: { tools, tool_choice } });
      return reply.choices[0]?.tool_calls?.map((call) => call.function.name);
    };
    expect(await called('auto')).to.equal(undefined);
    expect(await called('required')).to.deep.equal(['clock']);
    const named = { type: 'function', function: { name: 'get_weather' } };
    expect(await called(named)).to.deep.equal(['get_weather']);
  });

  it('calls a tool with the arguments that stand behind its name', async () => {
    const content = 'Please call `get_weather` {"city": "Oslo {north}", "days": 1} today.';
    const reply = await ask({ ...ASKING, messages: [{ role: 'user', content }] });
    const [call] = reply.choices[0]?.tool_calls ?? [];
    expect(call?.function.arguments).to.equal('{"city": "Oslo {north}", "days": 1}');
  });

  it('calls the tool that is named first, as a word of its own', async () => {
    const tools = ['Read', 'Write', 'get'].map((name) => ({
      type: 'function',
      function: { name },
    }));
    const called = async (content: string): Promise<unknown> => {
      const reply = await ask({ messages: [{ role: 'user', content }], fields: { tools } });
      return reply.choices[0]?.tool_calls?.map((call) => call.function.name);
    };
    expect(await called('First Write, then Read.')).to.deep.equal(['Write']);
    expect(await called('Readers get_weather')).to.equal(undefined);
    const reminder = '<system-reminder>\nUse Read often.\n</system-reminder>';
    expect(await called(`${reminder}\nHello!`)).to.equal(undefined);
    expect(await called(`${reminder}\nWrite!`)).to.deep.equal(['Write']);
  });

  it('answers text after the result of a tool, whatever is said behind it', async () => {
    const messages = [
      ...(ASKING.messages ?? []),
      { role: 'tool' as const, content: 'rain', tool_call_id: 'x' },
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'You may call get_weather again.' },
    ];
    const reply = await ask({ ...ASKING, messages });
    expect(reply.choices[0]).to.not.have.property('tool_calls');
  });

  it('answers JSON where that is asked for, whole or streamed, as far as the limit', async () => {
    const json = { fields: { response_format: { type: 'json_object' } } };
    const whole = text(await ask(json));
    expect(JSON.parse(whole)).to.have.property('answer').that.includes('What does the toll cost?');
    expect(streamed(await stream(json))).to.equal(whole);
    const short = await ask({ ...json, max_tokens: 3 });
    expect(text(short)).to.equal(whole.slice(0, 12));
    expect(short.choices[0]?.finish_reason).to.equal('length');
  });

  it('answers a value that fits the schema that is asked for', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 18 } },
      required: ['name', 'age'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', json_schema: { name: 'person', schema } };
    const reply = await ask({ fields: { response_format: format } });
    expect(JSON.parse(text(reply))).to.deep.equal({ name: 'example', age: 18 });
  });

  it('speaks for as long as a client lets it', async () => {
    expect((await ask({ max_tokens: 32_000 })).choices[0]?.finish_reason).to.equal('stop');
  });

  const drills: [unknown, number, string][] = [
    [400, 400, 'rejected'],
    ['429', 429, 'rate_limited'],
    [500, 500, 'broken'],
  ];
  for (const [fail, status, fault] of drills) {
    it(`fails with ${status} in a drill`, async () => {
      const reply: WireReply = await send(CALL, provider({ fail }));
      expect(reply.status).to.equal(status);
      const error = classifyError(status, reply.headers, await readText(reply, 10_000));
      expect(error.fault).to.equal(fault);
      expect(error.retry_after).to.equal(status === 429 ? '1' : undefined);
    });
  }

  it('cuts its answer in a drill, after part of it', async () => {
    const error = await ask({}, { fail: 'cut' }).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
    const cut = await send({ ...CALL, stream: true }, provider({ fail: 'cut' }));
    const said = await readText(cut, 100_000);
    expect(said).to.include('"content":').and.not.include('[DONE]');
  });

  it('never answers in a drill of timeout, until it is aborted', async () => {
    const abort = new AbortController();
    const call = send(CALL, provider({ fail: 'timeout' }), abort.signal).catch((e: unknown) => e);
    abort.abort(new Error('enough'));
    expect(await call).to.have.property('message', 'enough');
  });

  it('keeps its pace, and stops when it is aborted', async () => {
    const abort = new AbortController();
    const slow = provider({ first_token_ms: 1, tokens_per_second: 0.001 });
    const reply = await send({ ...CALL, stream: true }, slow, abort.signal);
    const body = reply.body[Symbol.asyncIterator]();
    await body.next();
    const next = body.next().catch((e: unknown) => e);
    abort.abort(new Error('enough'));
    expect(await next).to.have.property('message', 'enough');
  });

  it('refuses a body that is not JSON', async () => {
    const request = { method: 'POST' as const, path: '', headers: {}, body: 'hello' };
    const reply = await network.send(provider(), request, new AbortController().signal);
    expect(reply.status).to.equal(400);
  });
});
