import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
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

const HELLO = { model: 'acme-chat', input: 'Hello!' };
const WEATHER: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'The weather in a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};

describe('the openai package, making responses', () => {
  let acme: SdkGateway;
  let client: OpenAI;

  const connect = (apiKey: string): OpenAI =>
    new OpenAI({ baseURL: `${acme.url}/v1`, apiKey, maxRetries: 0 });

  before(async () => {
    acme = await startSdkGateway();
    client = connect(acme.secret);
  });
  after(() => acme.close());

  it('creates a response and sees its usage', async () => {
    const costs = await acme.charged(async () => {
      const { output_text, usage, status } = await client.responses.create(HELLO);
      expect([output_text, status]).to.deep.equal([TEXT, 'completed']);
      expect(usage).to.include({ input_tokens: 9, output_tokens: 5, total_tokens: 14 });
    });
    expect(costs).to.deep.equal([COST.whole]);
  });

  it('gathers a stream into a response with its own helper', async () => {
    const costs = await acme.charged(async () => {
      const stream = client.responses.stream(HELLO);
      let text = '';
      for await (const event of stream) {
        if (event.type === 'response.output_text.delta') text += event.delta;
      }
      const response = await stream.finalResponse();
      expect([text, response.output_text]).to.deep.equal([TEXT, TEXT]);
      expect(response.usage?.total_tokens).to.equal(13);
    });
    expect(costs).to.deep.equal([COST.streamed]);
  });

  for (const stream of [false, true]) {
    it(`calls a tool and reads its result, ${stream ? 'streamed' : 'whole'}`, async () => {
      const ask = (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> => {
        const request = { model: 'acme-chat', input, tools: [WEATHER] };
        return stream
          ? client.responses.stream(request).finalResponse()
          : client.responses.create(request);
      };
      const costs = await acme.charged(async () => {
        const question = { role: 'user' as const, content: 'Oslo?' };
        const { output } = await ask([question]);
        const call = output.find((item) => item.type === 'function_call');
        if (!call) throw new Error('No tool is called.');
        expect(JSON.parse(call.arguments)).to.deep.equal({ city: 'Oslo' });
        const type = 'function_call_output' as const;
        const told = await ask([question, call, { type, call_id: call.call_id, output: 'Rain.' }]);
        expect(told.output_text).to.equal(TEXT);
      });
      expect(costs).to.deep.equal([COST.tool, stream ? COST.streamed : COST.whole]);
    });
  }

  it('parses a response by a schema', async () => {
    const format = { type: 'json_schema' as const, name: 'place', schema: SCHEMA, strict: true };
    const { output_parsed } = await client.responses.parse({ ...HELLO, text: { format } });
    expect(output_parsed).to.deep.equal(OBJECT);
  });

  for (const { status, model, key, says } of REFUSALS) {
    it(`throws its own error for ${status}, with our words`, async () => {
      const error = await errorOf(connect(key(acme)).responses.create({ ...HELLO, model }));
      expect(error).to.be.instanceOf(APIError).with.property('status', status);
      expect((error as APIError).message).to.match(says);
    });
  }

  it('hears that a stream has failed when the upstream has cut it', async () => {
    const stream = await client.responses.create({ ...HELLO, model: 'acme-cut', stream: true });
    const seen: string[] = [];
    for await (const { type } of stream) seen.push(type);
    expect(seen.at(-1)).to.equal('response.failed');
    expect(seen).not.to.include('response.completed');
  });
});
