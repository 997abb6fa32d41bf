import { ApiError, GoogleGenAI, type FunctionDeclaration } from '@google/genai';
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

const HELLO = { model: 'acme-chat', contents: 'Hello!' };
const WEATHER: FunctionDeclaration = {
  name: 'weather',
  description: 'The weather in a city.',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const TOOLS = [{ functionDeclarations: [WEATHER] }];

describe('the @google/genai package', () => {
  let acme: SdkGateway;
  let client: GoogleGenAI;

  const connect = (apiKey: string): GoogleGenAI =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: acme.url, apiVersion: 'v1beta' } });

  before(async () => {
    acme = await startSdkGateway();
    client = connect(acme.secret);
  });
  after(() => acme.close());

  it('generates content and sees its usage', async () => {
    const costs = await acme.charged(async () => {
      const config = { systemInstruction: 'Be brief.', maxOutputTokens: 50 };
      const answer = await client.models.generateContent({ ...HELLO, config });
      expect(answer.text).to.equal(TEXT);
      expect(answer.candidates?.[0]?.finishReason).to.equal('STOP');
      expect(answer.usageMetadata).to.include({ promptTokenCount: 9, candidatesTokenCount: 5 });
    });
    expect(costs).to.deep.equal([COST.whole]);
  });

  it('streams content, with usage at the end', async () => {
    const costs = await acme.charged(async () => {
      let text = '';
      let total: number | undefined;
      for await (const chunk of await client.models.generateContentStream(HELLO)) {
        text += chunk.text ?? '';
        total = chunk.usageMetadata?.totalTokenCount ?? total;
      }
      expect([text, total]).to.deep.equal([TEXT, 13]);
    });
    expect(costs).to.deep.equal([COST.streamed]);
  });

  it('calls a function and reads its result', async () => {
    const costs = await acme.charged(async () => {
      const config = { tools: TOOLS };
      const chat = client.chats.create({ model: 'acme-chat', config });
      const asked = await chat.sendMessage({ message: 'Oslo?' });
      const [call] = asked.functionCalls ?? [];
      expect(call).to.deep.include({ name: 'weather', args: { city: 'Oslo' } });
      const functionResponse = { ...call, response: { output: 'Rain.' } };
      const told = await chat.sendMessage({ message: [{ functionResponse }] });
      expect(told.text).to.equal(TEXT);
    });
    expect(costs).to.deep.equal([COST.tool, COST.whole]);
  });

  it('streams a function call', async () => {
    const calls = [];
    const asking = { ...HELLO, config: { tools: TOOLS } };
    for await (const { functionCalls } of await client.models.generateContentStream(asking)) {
      calls.push(...(functionCalls ?? []));
    }
    expect(calls.map(({ args }) => args)).to.deep.equal([{ city: 'Oslo' }]);
  });

  it('answers in JSON by a schema', async () => {
    const config = { responseMimeType: 'application/json', responseJsonSchema: SCHEMA };
    const { text } = await client.models.generateContent({ ...HELLO, config });
    expect(JSON.parse(text ?? '')).to.deep.equal(OBJECT);
  });

  it('lists models, knows one by its name, and counts tokens for nothing', async () => {
    const costs = await acme.charged(async () => {
      const names = [];
      for await (const { name } of await client.models.list()) names.push(name);
      expect(names).to.include('models/acme-chat');
      const { name } = await client.models.get({ model: 'acme-chat' });
      expect(name).to.equal('models/acme-chat');
      const { totalTokens } = await client.models.countTokens(HELLO);
      expect(totalTokens).to.be.within(1, 50);
    });
    expect(costs).to.deep.equal([]);
  });

  it('asks at the version that it takes by itself, too', async () => {
    const { secret: apiKey, url: baseUrl } = acme;
    const plain = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
    expect((await plain.models.generateContent(HELLO)).text).to.equal(TEXT);
  });

  for (const { status, model, key, says } of REFUSALS) {
    it(`throws its own ApiError for ${status}, with our words`, async () => {
      const call = connect(key(acme)).models.generateContent({ ...HELLO, model });
      const error = await errorOf(call);
      expect(error).to.be.instanceOf(ApiError).with.property('status', status);
      expect((error as ApiError).message).to.match(says);
    });
  }

  it('never sees the end of a stream that the upstream has cut', async () => {
    const reasons: unknown[] = [];
    const reading = (async () => {
      const stream = await client.models.generateContentStream({ ...HELLO, model: 'acme-cut' });
      for await (const { candidates } of stream) reasons.push(candidates?.[0]?.finishReason);
    })();
    await errorOf(reading);
    expect(reasons.filter(Boolean)).to.deep.equal([]);
  });
});
