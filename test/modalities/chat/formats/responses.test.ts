import { expect } from 'chai';
import OpenAI from 'openai';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { ask, errorOf, type Answer } from '../../../helpers/ask.js';

const HELLO = { model: 'acme-chat', input: 'Hello!' };
const WEATHER = {
  type: 'function' as const,
  name: 'weather',
  parameters: { type: 'object', properties: {} },
  strict: false,
};

interface Event {
  type: string;
  sequence_number: number;
  output_index?: number;
  item?: Record<string, unknown>;
  delta?: string;
  response?: { status: string; output: Record<string, unknown>[]; error: unknown };
}

function eventsOf({ text }: Answer): Event[] {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  const events = blocks.map((block) => {
    const [name = '', data = ''] = block.split('\n');
    const event = JSON.parse(data.slice('data: '.length)) as Event;
    expect(name).to.equal(`event: ${event.type}`);
    return event;
  });
  const numbers = events.map(({ sequence_number }) => sequence_number);
  expect(numbers).to.deep.equal([...numbers.keys()]);
  return events;
}

describe('POST /v1/responses', () => {
  let acme: OpenaiGateway;
  let client: OpenAI;
  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  acme-thinker: { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: acme }], price: *paid, passthrough: [reasoning_effort, response_format] }
  acme-classes: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme, model: classes }], price: free }
  acme-plain: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme, drop: [reasoning_effort] }], price: *paid }`,
    });
    client = new OpenAI({ apiKey: acme.secret, baseURL: `${acme.url}/v1`, maxRetries: 0 });
  });
  after(() => acme.close());

  const post = (body: object): Promise<Answer> =>
    ask(acme, '/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it("answers OpenAI's own client with its text and its usage", async () => {
    const answer = await client.responses.create(HELLO);
    expect(answer.output_text).to.equal('Good day, 🌍!');
    expect(answer).to.deep.include({ object: 'response', status: 'completed', error: null });
    expect(answer.usage).to.deep.equal({
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 14,
    });
  });

  it('repeats the instructions and the tools of its request, and tells when it was done', async () => {
    const asked = { ...HELLO, model: 'acme-all', instructions: 'Be brief.', tools: [WEATHER] };
    for (const stream of [false, true]) {
      const answer = await post({ ...asked, stream });
      const response = stream
        ? eventsOf(answer).at(-1)?.response
        : (JSON.parse(answer.text) as Record<string, unknown>);
      expect(response).to.deep.include({ instructions: 'Be brief.', tools: [WEATHER] });
      const { created_at, completed_at } = response as Record<string, number>;
      expect(completed_at).to.be.at.least(created_at ?? Infinity);
    }
  });

  it('counts the tokens that were written into the cache', async () => {
    const { usage } = await client.responses.create({ ...HELLO, model: 'acme-classes' });
    expect(usage?.input_tokens_details).to.deep.equal({ cached_tokens: 4, cache_write_tokens: 2 });
  });

  it('charges a response by its usage', async () => {
    const { account, gateway } = acme;
    const before = (await gateway.store.account(account.id))?.balance_nano ?? 0n;
    await client.responses.create(HELLO);
    const after = (await gateway.store.account(account.id))?.balance_nano ?? 0n;
    expect(before - after).to.equal(9n * 1_000n + 5n * 2_000n);
  });

  it("streams all the events that OpenAI's stream helper needs", async () => {
    const final = await client.responses.stream(HELLO).finalResponse();
    expect(final.output_text).to.equal('Good day, 🌍!');
    const events = eventsOf(await post({ ...HELLO, stream: true }));
    expect(events.map(({ type }) => type.replace('response.', ''))).to.deep.equal([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('streams the arguments of a function call piece by piece', async () => {
    const body = { ...HELLO, model: 'acme-all', tools: [WEATHER], stream: true };
    const events = eventsOf(await post(body));
    const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta');
    expect(deltas.map(({ delta }) => delta)).to.deep.equal(['{"city":', '"Oslo"}']);
    const done = events.find(({ type }) => type === 'response.output_item.done');
    expect(done?.item).to.include({
      type: 'function_call',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"city":"Oslo"}',
    });
  });

  it('says a cut stream as response.failed, with a code that is not asked again for', async () => {
    const events = eventsOf(await post({ ...HELLO, model: 'acme-cut', stream: true }));
    const last = events.at(-1);
    expect(last?.type).to.equal('response.failed');
    expect(last?.response).to.deep.include({ status: 'failed' });
    expect(last?.response?.error).to.include({ code: 'server_is_overloaded' });
    expect(events.map(({ type }) => type)).not.to.include('response.completed');
  });

  it('calls a function of a namespace by the two names that the client knows', async () => {
    const tools = [{ type: 'namespace', name: 'sky', tools: [WEATHER] }];
    await post({ ...HELLO, model: 'acme-all', tools });
    const [entry] = acme.sent().tools as { function: { name: string } }[];
    expect(entry?.function.name).to.equal('sky__weather');
    const input = [
      { role: 'user', content: 'Hello!' },
      { type: 'function_call', call_id: 'a', namespace: 'sky', name: 'weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'Rain.' },
    ];
    await post({ ...HELLO, model: 'acme-all', input, tools });
    expect(acme.sent().messages).to.deep.equal([
      { role: 'user', content: 'Hello!' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'sky__weather', arguments: '{}' } },
        ],
      },
      { role: 'tool', content: 'Rain.', tool_call_id: 'a' },
    ]);
  });

  it('gives a custom tool its text, whole and streamed', async () => {
    const body = { ...HELLO, model: 'acme-all', tools: [{ type: 'custom', name: 'weather' }] };
    const whole = JSON.parse((await post(body)).text) as { output: Record<string, unknown>[] };
    expect(whole.output[0]).to.include({ type: 'custom_tool_call', name: 'weather' });
    expect(whole.output[0]?.input).to.equal('{"city":"Oslo"}');
    const events = eventsOf(await post({ ...body, stream: true }));
    const done = events.find(({ type }) => type === 'response.output_item.done');
    expect(done?.item).to.include({ type: 'custom_tool_call', input: '{"city":"Oslo"}' });
  });

  it('finds tools in an item of the input', async () => {
    const tools = [{ type: 'namespace', name: 'functions', tools: [WEATHER] }];
    const input = [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'Hello!' },
    ];
    const answer = await post({ ...HELLO, model: 'acme-all', input });
    const { output } = JSON.parse(answer.text) as { output: Record<string, unknown>[] };
    expect(output[0]).to.include({ type: 'function_call', name: 'weather' });
    expect(acme.sent().tools).to.have.length(1);
  });

  it('says effort, schema and instructions in the words of chat completions', async () => {
    await post({
      ...HELLO,
      model: 'acme-thinker',
      instructions: 'Be brief.',
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
      max_output_tokens: 50,
    });
    expect(acme.sent()).to.deep.include({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello!' },
      ],
      reasoning_effort: 'low',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { type: 'object' } },
      },
      max_tokens: 50,
    });
  });

  for (const [name, value] of [
    ['n', 0.001],
    ['n', -5],
    ['max_completion_tokens', -1],
    ['stop', 7],
  ] as const) {
    it(`reads no ${name}, so that ${name}: ${value} makes no answer cheaper`, async () => {
      const answer = await post({ ...HELLO, [name]: value });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('tollgate-ignored')).to.equal(name);
      expect(answer.text).to.include('Good day');
    });
  }

  it('names the tools that only OpenAI can run, and does without them', async () => {
    const { status, headers } = await post({
      ...HELLO,
      model: 'acme-all',
      tools: [WEATHER, { type: 'web_search' }],
    });
    expect([status, headers.get('tollgate-ignored')]).to.deep.equal([200, 'tools[].web_search']);
  });

  it('says refusals in the words and places of the body that was sent', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
    const input = [
      { role: 'user', content: 'Look!' },
      { role: 'user', content: [image] },
    ];
    const blind = await post({ ...HELLO, instructions: 'Be brief.', input });
    expect(errorOf(blind)).to.include({ param: 'input[1].content[0]' });
    expect(errorOf(blind).message).to.match(/^input\[1\]\.content\[0\]: this model/u);
    const { headers } = await post({ ...HELLO, model: 'acme-plain', reasoning: { effort: 'low' } });
    expect(headers.get('tollgate-ignored')).to.equal('reasoning.effort');
  });

  it('tells a model that cannot see that a tool has shown something', async () => {
    const output = [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }];
    const call = { type: 'function_call', call_id: 'a', name: 'view', arguments: '{}' };
    const input = [call, { type: 'function_call_output', call_id: 'a', output }];
    const answer = await post({ ...HELLO, model: 'acme-thinker', input });
    expect(answer.headers.get('tollgate-ignored')).to.equal('input[].output[].image_url');
    const messages = acme.sent().messages as { content: string }[];
    expect(messages.at(-1)?.content).to.include('cannot be shown');
  });

  it('keeps a text that came behind a call in one turn with it', async () => {
    const call = { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{}' };
    const input = [
      { role: 'user', content: 'Hello!' },
      call,
      { role: 'assistant', content: 'One moment.' },
      { type: 'function_call_output', call_id: 'a', output: 'Rain.' },
    ];
    await post({ ...HELLO, model: 'acme-all', input });
    const messages = acme.sent().messages as { role: string; content: string }[];
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool']);
    expect(messages[1]?.content).to.equal('One moment.');
  });

  it('shortens the long name of a function in a namespace, and knows it again', async () => {
    const namespace = `mcp__${'a'.repeat(60)}`;
    const tools = [{ type: 'namespace', name: namespace, tools: [WEATHER] }];
    const call = {
      type: 'function_call',
      call_id: 'a',
      namespace,
      name: 'weather',
      arguments: '{}',
    };
    await post({
      ...HELLO,
      model: 'acme-all',
      tools,
      input: [{ role: 'user', content: 'x' }, call],
    });
    const { tools: sent, messages } = acme.sent() as {
      tools: { function: { name: string } }[];
      messages: { tool_calls?: { function: { name: string } }[] }[];
    };
    const name = sent[0]?.function.name ?? '';
    expect(name).to.match(/^mcp__a{50}_[0-9a-f]{8}$/u);
    expect(messages[1]?.tool_calls?.[0]?.function.name).to.equal(name);
  });

  it('answers at /openai/v1 too', async () => {
    const openai = new OpenAI({ apiKey: acme.secret, baseURL: `${acme.url}/openai/v1` });
    expect((await openai.responses.create(HELLO)).output_text).to.equal('Good day, 🌍!');
  });

  for (const [what, more] of [
    ['an answer that was kept', { previous_response_id: 'resp_1' }],
    ['an item that was kept', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['work in the background', { background: true }],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const answer = await post({ ...HELLO, ...more });
      expect([answer.status, answer.text]).to.deep.include.members([400]);
      expect(answer.text).to.include('not kept');
    });
  }
});
