import { expect } from 'chai';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  type ClientOptions,
} from 'openai';
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction';
import { COST, OBJECT, SCHEMA, startSdkGateway, type SdkGateway } from './helpers/sdk-gateway.js';

function weather(asked: (place: object) => void): RunnableToolFunctionWithParse<object> {
  return {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
      parse: (text) => JSON.parse(text) as object,
      function: (place) => {
        asked(place);
        return 'Rain.';
      },
    },
  };
}

describe('the openai package', () => {
  let acme: SdkGateway;
  let client: OpenAI;

  const connect = (options: ClientOptions = {}): OpenAI =>
    new OpenAI({ baseURL: `${acme.url}/v1`, apiKey: acme.secret, maxRetries: 0, ...options });

  const hello = (model: string, who = client): Promise<unknown> =>
    who.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello!' }] });

  before(async () => {
    acme = await startSdkGateway();
    client = connect();
  });
  after(() => acme.close());

  it('creates a completion and sees its usage', async () => {
    const { data, request_id } = await client.chat.completions
      .create({ model: 'acme-chat', messages: [{ role: 'developer', content: 'Be brief.' }] })
      .withResponse();
    expect(data.choices[0]?.message.content).to.equal('Good day, 🌍!');
    expect(data.choices[0]?.finish_reason).to.equal('stop');
    expect(data.model).to.equal('acme-chat');
    expect(data.usage?.total_tokens).to.equal(14);
    expect(data.id).to.equal(`chatcmpl-${request_id}`);
  });

  it('streams a completion, with usage at the end', async () => {
    const stream = await client.chat.completions.create({
      model: 'acme-chat',
      messages: [{ role: 'user', content: 'Hello!' }],
      max_completion_tokens: 50,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    const usages = [];
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.usage) usages.push(chunk.usage.total_tokens);
    }
    expect(text).to.equal('Good day, 🌍!');
    expect(usages).to.deep.equal([13]);
  });

  it('is charged for each call once, by its usage', async () => {
    const { completions } = client.chat;
    const request = { model: 'acme-chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
    const tools = [weather(() => undefined)];
    const costs = await acme.charged(async () => {
      await completions.create(request);
      await completions.stream(request).finalMessage();
      await completions.runTools({ ...request, tools }).finalContent();
      await hello('acme-broken').catch(() => undefined);
    });
    expect(costs).to.deep.equal([COST.whole, COST.streamed, COST.tool, COST.whole]);
  });

  it('parses a completion by a schema', async () => {
    const { choices } = await client.chat.completions.parse({
      model: 'acme-chat',
      messages: [{ role: 'user', content: 'Oslo?' }],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', schema: SCHEMA, strict: true },
      },
    });
    expect(choices[0]?.message.parsed).to.deep.equal(OBJECT);
  });

  it('gathers a stream into a completion with its own helper', async () => {
    const runner = client.chat.completions.stream({
      model: 'acme-chat',
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    const message = await runner.finalMessage();
    expect(message.content).to.equal('Good day, 🌍!');
    expect((await runner.totalUsage()).completion_tokens).to.equal(4);
  });

  for (const stream of [false, true]) {
    it(`runs tools ${stream ? 'streamed' : 'whole'}`, async () => {
      const cities: unknown[] = [];
      const { completions } = client.chat;
      const request = {
        model: 'acme-chat',
        messages: [{ role: 'user' as const, content: 'Is it raining in Oslo?' }],
        tools: [weather((place) => cities.push(place))],
      };
      const runner = stream
        ? completions.runTools({ ...request, stream })
        : completions.runTools(request);
      expect(await runner.finalContent()).to.equal('Good day, 🌍!');
      expect(cities).to.deep.equal([{ city: 'Oslo' }]);
      expect(acme.sent().messages).to.deep.include({
        role: 'tool',
        content: 'Rain.',
        tool_call_id: 'call_1',
      });
    });
  }

  it('lists the models', async () => {
    const ids = [];
    for await (const model of client.models.list()) ids.push(`${model.owned_by}: ${model.id}`);
    expect(ids).to.include('acme: acme-chat');
  });

  for (const base of ['/v1', '/openai/v1']) {
    it(`retrieves a model at ${base}`, async () => {
      const { id, owned_by } = await connect({ baseURL: acme.url + base }).models.retrieve(
        'acme-chat',
      );
      expect([id, owned_by]).to.deep.equal(['acme-chat', 'acme']);
    });
  }

  const refusals = [
    { status: 401, type: AuthenticationError, code: 'invalid_api_key' },
    { status: 400, type: BadRequestError, code: 'model_not_found' },
    { status: 402, type: APIError, code: 'insufficient_balance' },
    { status: 502, type: InternalServerError, code: 'upstream_error' },
  ];
  for (const { status, type, code } of refusals) {
    it(`throws its own ${type.name} for ${status}`, async () => {
      const calls: Record<number, () => Promise<unknown>> = {
        401: () => hello('acme-chat', connect({ apiKey: 'tg-not-a-key' })),
        400: () => hello('acme-chta'),
        402: () => hello('acme-chat', connect({ apiKey: acme.poor })),
        502: () => hello('acme-broken'),
      };
      const error = await calls[status]?.().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(type);
      expect(error).to.include({ status, code });
      expect(error)
        .to.have.property('requestID')
        .that.matches(/^[0-9a-f-]{36}$/u);
    });
  }

  it('throws when a stream is cut by the upstream', async () => {
    const stream = await client.chat.completions.create({
      model: 'acme-cut',
      messages: [{ role: 'user', content: 'Hello!' }],
      stream: true,
    });
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    })();
    const error = await reading.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(APIError).with.property('code', 'upstream_error');
    expect(text).to.equal('Good day');
  });
});
