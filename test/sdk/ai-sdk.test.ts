import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  jsonSchema,
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
} from 'ai';
import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';

describe('the AI SDK', () => {
  let acme: OpenaiGateway;

  const model = (id: string, apiKey = acme.secret): LanguageModel => {
    const baseURL = `${acme.url}/v1`;
    return createOpenAICompatible({ name: 'tollgate', baseURL, apiKey, includeUsage: true })(id);
  };

  before(async () => {
    acme = await startOpenaiGateway();
  });
  after(() => acme.close());

  it('generates text and sees its usage', async () => {
    const { text, usage, finishReason } = await generateText({
      model: model('acme-chat'),
      system: 'Be brief.',
      prompt: 'Hello!',
      maxOutputTokens: 50,
    });
    expect(text).to.equal('Good day, 🌍!');
    expect(finishReason).to.equal('stop');
    expect(usage).to.include({ inputTokens: 9, outputTokens: 5, totalTokens: 14 });
  });

  it('streams text, with usage at the end', async () => {
    const { textStream, usage } = streamText({ model: model('acme-chat'), prompt: 'Hello!' });
    let text = '';
    for await (const part of textStream) text += part;
    expect(text).to.equal('Good day, 🌍!');
    expect((await usage).totalTokens).to.equal(13);
  });

  const weather = tool({
    description: 'The weather in a city.',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: ({ city }) => Promise.resolve(`Rain in ${city}.`),
  });
  const request = { prompt: 'Oslo?', tools: { weather }, stopWhen: stepCountIs(3) };

  it('runs tools', async () => {
    const { text, steps } = await generateText({ model: model('acme-all'), ...request });
    expect(steps[0]?.toolResults[0]).to.include({ output: 'Rain in Oslo.' });
    expect(text).to.equal('Good day, 🌍!');
  });

  it('runs tools streamed', async () => {
    const { text, steps } = streamText({ model: model('acme-all'), ...request });
    expect(await text).to.equal('Good day, 🌍!');
    expect((await steps)[0]?.toolResults[0]).to.include({ output: 'Rain in Oslo.' });
  });

  const refusals = [
    { status: 401, name: 'acme-chat', key: () => 'tg-not-a-key', says: /API key/u },
    { status: 400, name: 'acme-chta', says: /"acme-chta"/u },
    { status: 402, name: 'acme-chat', key: () => acme.poor, says: /balance/u },
    { status: 502, name: 'acme-broken', says: /upstream/u },
  ];
  for (const { status, name, key, says } of refusals) {
    it(`throws its own APICallError for ${status}, with our words`, async () => {
      const asking = generateText({ model: model(name, key?.()), prompt: 'Hello!', maxRetries: 0 });
      const error: unknown = await asking.catch((thrown: unknown) => thrown);
      if (!APICallError.isInstance(error)) throw error;
      expect(error.statusCode).to.equal(status);
      expect(error.message).to.match(says);
    });
  }

  it('reports a stream that the upstream has cut', async () => {
    const { fullStream } = streamText({
      model: model('acme-cut'),
      prompt: 'Hello!',
      maxRetries: 0,
      onError: () => undefined,
    });
    const seen = [];
    for await (const { type } of fullStream) seen.push(type);
    expect(seen).to.include('error');
    expect(seen).to.include('text-delta');
  });
});
