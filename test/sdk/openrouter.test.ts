import { OpenRouter } from '@openrouter/sdk';
import { tool } from '@openrouter/sdk/lib/tool.js';
import { OpenRouterError } from '@openrouter/sdk/models/errors';
import { expect } from 'chai';
import { z } from 'zod';
import {
  CHAT_CALL,
  CHAT_TOOL,
  COST,
  errorOf,
  OBJECT,
  REFUSALS,
  SCHEMA,
  startSdkGateway,
  TEXT,
  VECTOR,
  type SdkGateway,
} from './helpers/sdk-gateway.js';

/** Its answers are checked by Zod, so that one field of another type is an error. */
describe('the @openrouter/sdk package', () => {
  let acme: SdkGateway;

  const connect = (base = '/openai/v1', apiKey = acme.secret): OpenRouter =>
    new OpenRouter({ serverURL: acme.url + base, apiKey, retryConfig: { strategy: 'none' } });

  before(async () => {
    acme = await startSdkGateway();
  });
  after(() => acme.close());

  /** A chat that is not streamed. */
  async function whole(more: object = {}) {
    const chatRequest = { ...CHAT_CALL, ...more, stream: false as const };
    const answer = await connect().chat.send({ chatRequest });
    if ('choices' in answer) return answer;
    throw new Error('This is a stream.');
  }

  it('sends a chat and sees its usage', async () => {
    const costs = await acme.charged(async () => {
      const { choices, usage } = await whole();
      expect(choices[0]?.message.content).to.equal(TEXT);
      expect(usage?.totalTokens).to.equal(14);
    });
    expect(costs).to.deep.equal([COST.whole]);
  });

  it('streams a chat', async () => {
    const costs = await acme.charged(async () => {
      const chatRequest = { ...CHAT_CALL, stream: true as const };
      const stream = await connect().chat.send({ chatRequest });
      if ('choices' in stream) throw new Error('This is no stream.');
      let text = '';
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      expect(text).to.equal(TEXT);
    });
    expect(costs).to.deep.equal([COST.streamed]);
  });

  it('calls a tool', async () => {
    const costs = await acme.charged(async () => {
      const { choices } = await whole({ tools: [CHAT_TOOL] });
      const [call] = choices[0]?.message.toolCalls ?? [];
      expect(call?.function).to.deep.equal({ name: 'weather', arguments: '{"city":"Oslo"}' });
    });
    expect(costs).to.deep.equal([COST.tool]);
  });

  it('answers in JSON by a schema', async () => {
    const jsonSchema = { name: 'place', schema: SCHEMA };
    const { choices } = await whole({ responseFormat: { type: 'json_schema', jsonSchema } });
    expect(JSON.parse(choices[0]?.message.content as string)).to.deep.equal(OBJECT);
  });

  it('calls a model by responses, and runs its tools', async () => {
    const weather = tool({
      name: 'weather',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => Promise.resolve(`Rain in ${city}.`),
    });
    const costs = await acme.charged(async () => {
      const asked = { model: 'acme-chat', input: 'Oslo?' };
      expect(await connect('/v1').callModel(asked).getText()).to.equal(TEXT);
      expect(
        await connect('/v1')
          .callModel({ ...asked, tools: [weather] })
          .getText(),
      ).to.equal(TEXT);
    });
    expect(costs).to.deep.equal([COST.streamed, COST.tool, COST.streamed]);
  });

  it('embeds texts', async () => {
    const costs = await acme.charged(async () => {
      const requestBody = { model: 'acme-vectors', input: ['a', 'b'] };
      const answer = await connect('/v1').embeddings.generate({ requestBody });
      if (typeof answer === 'string') throw new Error(answer);
      expect(answer.data.map(({ embedding }) => embedding)).to.deep.equal([VECTOR, VECTOR]);
    });
    expect(costs).to.deep.equal([COST.vector]);
  });

  for (const { status, model, key, says } of REFUSALS) {
    it(`throws its own error for ${status}, with our words`, async () => {
      const chatRequest = { ...CHAT_CALL, model, stream: false as const };
      const error = await errorOf(connect('/openai/v1', key(acme)).chat.send({ chatRequest }));
      expect(error).to.be.instanceOf(OpenRouterError).with.property('statusCode', status);
      expect((error as OpenRouterError).body).to.match(says);
    });
  }
});
