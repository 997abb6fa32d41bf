import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { expect } from 'chai';
import {
  COST,
  errorOf,
  OBJECT,
  REFUSALS,
  SCHEMA,
  startSdkGateway,
  TEXT,
  type SdkGateway,
} from './helpers/sdk-gateway.js';

const HELLO = {
  model: 'acme-chat',
  max_tokens: 50,
  messages: [{ role: 'user' as const, content: 'Hello!' }],
};
const WEATHER = {
  name: 'weather',
  description: 'The weather in a city.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

describe('the @anthropic-ai/sdk package', () => {
  let acme: SdkGateway;
  let client: Anthropic;

  const connect = (apiKey: string): Anthropic =>
    new Anthropic({ baseURL: acme.url, apiKey, maxRetries: 0 });

  before(async () => {
    acme = await startSdkGateway();
    client = connect(acme.secret);
  });
  after(() => acme.close());

  it('creates a message and sees its usage', async () => {
    const costs = await acme.charged(async () => {
      const message = await client.messages.create({ ...HELLO, system: 'Be brief.' });
      expect(message.content).to.deep.include({ type: 'text', text: TEXT });
      expect(message.stop_reason).to.equal('end_turn');
      expect(message.usage).to.include({ input_tokens: 9, output_tokens: 5 });
    });
    expect(costs).to.deep.equal([COST.whole]);
  });

  it('takes its key as a bearer token too', async () => {
    const authToken = acme.secret;
    const bearer = new Anthropic({ baseURL: acme.url, apiKey: null, authToken, maxRetries: 0 });
    expect((await bearer.messages.create(HELLO)).stop_reason).to.equal('end_turn');
  });

  it('gathers a stream into a message with its own helper', async () => {
    const costs = await acme.charged(async () => {
      const stream = client.messages.stream(HELLO);
      const said: string[] = [];
      stream.on('text', (text) => said.push(text));
      const message = await stream.finalMessage();
      expect(said.join('')).to.equal(TEXT);
      expect(message.usage.output_tokens).to.equal(4);
    });
    expect(costs).to.deep.equal([COST.streamed]);
  });

  it('runs tools with its own runner', async () => {
    const cities: unknown[] = [];
    const weather = {
      ...WEATHER,
      type: 'custom' as const,
      parse: (input: unknown) => input,
      run: (input: unknown) => {
        cities.push(input);
        return 'Rain.';
      },
    };
    const costs = await acme.charged(async () => {
      const message = await client.beta.messages.toolRunner({ ...HELLO, tools: [weather] });
      expect(message.content).to.deep.include({ type: 'text', text: TEXT });
    });
    expect(cities).to.deep.equal([{ city: 'Oslo' }]);
    expect(acme.sent().messages).to.deep.include({
      role: 'tool',
      content: 'Rain.',
      tool_call_id: 'call_1',
    });
    expect(costs).to.deep.equal([COST.tool, COST.whole]);
  });

  it('streams the arguments of a tool', async () => {
    const costs = await acme.charged(async () => {
      const message = await client.messages.stream({ ...HELLO, tools: [WEATHER] }).finalMessage();
      expect(message.stop_reason).to.equal('tool_use');
      const [call] = message.content;
      expect(call).to.include({ type: 'tool_use', name: 'weather' });
      expect(call).to.have.property('input').that.deep.equals({ city: 'Oslo' });
    });
    expect(costs).to.deep.equal([COST.tool]);
  });

  it('parses an answer by a schema', async () => {
    const format = jsonSchemaOutputFormat(SCHEMA);
    const message = await client.messages.parse({ ...HELLO, output_config: { format } });
    expect(message.parsed_output).to.deep.equal(OBJECT);
  });

  it('lists the models', async () => {
    const ids = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).to.include('acme-chat');
    expect((await client.models.retrieve('acme-chat')).id).to.equal('acme-chat');
  });

  it('counts the tokens of a prompt, for nothing', async () => {
    const { model, messages } = HELLO;
    const costs = await acme.charged(async () => {
      const { input_tokens } = await client.messages.countTokens({ model, messages });
      expect(input_tokens).to.be.within(1, 50);
    });
    expect(costs).to.deep.equal([]);
  });

  for (const { status, model, key, says } of REFUSALS) {
    it(`throws its own error for ${status}, with our words`, async () => {
      const error = await errorOf(connect(key(acme)).messages.create({ ...HELLO, model }));
      expect(error).to.be.instanceOf(APIError).with.property('status', status);
      expect((error as APIError).message).to.match(says);
    });
  }

  it('throws when a stream is cut by the upstream', async () => {
    const stream = client.messages.stream({ ...HELLO, model: 'acme-cut' });
    const said: string[] = [];
    stream.on('text', (text) => said.push(text));
    expect(await errorOf(stream.finalMessage())).to.be.instanceOf(Error);
    expect(said.join('')).to.equal('Good day');
  });
});
