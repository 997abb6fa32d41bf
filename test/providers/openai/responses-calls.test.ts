import { expect } from 'chai';
import { ask } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { startResponsesServer } from '../../helpers/responses-server.js';
import type { FakeUpstream } from '../../helpers/upstream.js';

const CITY = { type: 'object', properties: { city: { type: 'string' } } };
const OUTPUT = [
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VjcmV0' },
  {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'weather',
    arguments: '{"city":"Oslo"}',
  },
];
const SAID = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'It rains in Oslo.' }],
};
const EARLIER = [
  { type: 'reasoning', summary: [], encrypted_content: 'c2VjcmV0' },
  { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
];
/** 30 tokens of fresh and 10 of cached input, and 30 of output, reasoning among them. */
const COST_NANO = 30_000n + 10n * 100n + 30n * 2_000n;

type Json = Record<string, unknown>;

const json = ({ text }: { text: string }): Json => JSON.parse(text) as Json;

describe('tools and reasoning of a model that OpenAI serves by the Responses API', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startResponsesServer([
      { output: OUTPUT },
      { output: [SAID] },
      { output: OUTPUT },
      { output: [SAID] },
      { output: OUTPUT },
      { output: [SAID] },
      { output: OUTPUT },
    ]);
    gateway = await startGateway(
      `owners: { acme: { name: Acme } }
providers: { openai: { base_url: '${upstream.url}', api_key: sk-up } }
models:
  smart:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: openai, model: gpt-5.5 }]
    passthrough: [reasoning_effort, reasoning_content]
    price: { input_per_million: 1, cached_input_per_million: 0.1, output_per_million: 2 }
`,
      { credit: '10' },
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const post = (path: string, body: object) =>
    ask(gateway, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const charges = async (): Promise<bigint[]> => {
    const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 99 });
    return rows.filter(({ kind }) => kind === 'charge').map(({ amount_nano }) => -amount_nano);
  };
  const received = (): Json[] => {
    const body = upstream.requests.at(-1)?.json as { input: Json[] };
    return body.input.filter(({ type }) => type !== 'message');
  };

  it('reach a client of chat completions, which pays for its reasoning', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: CITY } }];
    const messages: object[] = [{ role: 'user', content: 'Weather in Oslo?' }];
    const first = await post('/v1/chat/completions', { model: 'smart', messages, tools });
    expect(first.status).to.equal(200);
    const { choices, usage } = json(first) as { choices: { message: object }[]; usage: object };
    expect(choices).to.have.nested.property('[0].finish_reason', 'tool_calls');
    expect(choices).to.have.nested.property('[0].message.tool_calls[0].id', 'call_1');
    expect(usage).to.deep.include({ prompt_tokens: 40, completion_tokens: 30 });

    messages.push(choices[0]?.message ?? {});
    messages.push({ role: 'tool', tool_call_id: 'call_1', content: 'Rain' });
    const second = await post('/v1/chat/completions', { model: 'smart', messages, tools });
    expect(json(second)).to.have.nested.property('choices[0].message.content', 'It rains in Oslo.');
    expect(received()).to.deep.equal([
      ...EARLIER,
      { type: 'function_call_output', call_id: 'call_1', output: 'Rain' },
    ]);
    expect(await charges()).to.deep.equal([COST_NANO, COST_NANO]);
  });

  it('reach a client of the Responses API, which brings the state of reasoning back', async () => {
    const tools = [{ type: 'function', name: 'weather', parameters: CITY }];
    const ask_with = (input: object[]) =>
      post('/v1/responses', { model: 'smart', input, tools, stream: true });
    const input: object[] = [{ role: 'user', content: 'Weather in Oslo?' }];
    const first = await ask_with(input);
    const done = first.text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)) as { type: string; item: Json })
      .filter(({ type }) => type === 'response.output_item.done')
      .map(({ item }) => item);
    expect(done.map(({ type }) => type)).to.deep.equal(['reasoning', 'function_call']);
    input.push(...done, { type: 'function_call_output', call_id: 'call_1', output: 'Rain' });
    const second = await ask_with(input);
    expect(second.text).to.include('response.completed');
    expect(received().slice(0, 2)).to.deep.equal(EARLIER);
  });

  it('reach a client of the Messages API, which brings the state of reasoning back', async () => {
    const tools = [{ name: 'weather', input_schema: CITY }];
    const ask_with = (messages: object[]) =>
      post('/v1/messages', {
        model: 'smart',
        max_tokens: 2_000,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
        messages,
        tools,
      });
    const messages: object[] = [{ role: 'user', content: 'Weather in Oslo?' }];
    const first = await ask_with(messages);
    const { content } = json(first) as { content: Json[] };
    const call = content.find(({ type }) => type === 'tool_use');
    messages.push({ role: 'assistant', content });
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call?.id, content: 'Rain' }],
    });
    const second = await ask_with(messages);
    expect(json(second)).to.have.nested.property('content[0].text', 'It rains in Oslo.');
    expect(received().slice(0, 2)).to.deep.equal(EARLIER);
  });

  it('are streamed to a client of chat completions', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: CITY } }];
    const messages = [{ role: 'user', content: 'Weather in Oslo?' }];
    const { text } = await post('/v1/chat/completions', {
      model: 'smart',
      messages,
      tools,
      stream: true,
    });
    const chunks = text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)) as { choices: Json[] });
    const args = chunks
      .flatMap(({ choices }) => choices)
      .map((choice) => {
        const { tool_calls } = choice.delta as {
          tool_calls?: { function: { arguments?: string } }[];
        };
        return tool_calls?.[0]?.function.arguments ?? '';
      });
    expect(args.join('')).to.equal('{"city":"Oslo"}');
    expect(text).to.include('"finish_reason":"tool_calls"').and.to.include('[DONE]');
    expect((await charges()).every((cost) => cost === COST_NANO)).to.equal(true);
  });
});
