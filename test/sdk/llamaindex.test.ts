import type { ToolCallLLM } from '@llamaindex/core/llms';
import { tool } from '@llamaindex/core/tools';
import { OpenAI, OpenAIEmbedding, OpenAIResponses } from '@llamaindex/openai';
import { expect } from 'chai';
import { z } from 'zod';
import {
  COST,
  errorOf,
  OBJECT,
  REFUSALS,
  startSdkGateway,
  TEXT,
  VECTOR,
  type SdkGateway,
} from './helpers/sdk-gateway.js';

const HELLO = { messages: [{ role: 'user' as const, content: 'Hello!' }] };

describe('LlamaIndex', () => {
  let acme: SdkGateway;
  before(async () => {
    acme = await startSdkGateway();
  });
  after(() => acme.close());

  const settings = (model = 'acme-chat', apiKey = acme.secret) => ({
    model,
    apiKey,
    baseURL: `${acme.url}/v1`,
    maxRetries: 0,
  });
  const weather = tool({
    name: 'weather',
    description: 'The weather in a city.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => `Rain in ${city}.`,
  });
  const classes = { 'chat completions': OpenAI, responses: OpenAIResponses };

  for (const [name, Class] of Object.entries(classes)) {
    describe(`with ${name}`, () => {
      const model = (id?: string, key?: string): ToolCallLLM => new Class(settings(id, key));

      it('chats', async () => {
        const costs = await acme.charged(async () => {
          const { message } = await model().chat(HELLO);
          expect(message.content).to.equal(TEXT);
        });
        expect(costs).to.deep.equal([COST.whole]);
      });

      it('streams', async () => {
        const costs = await acme.charged(async () => {
          let text = '';
          for await (const { delta } of await model().chat({ ...HELLO, stream: true })) {
            text += delta;
          }
          // With responses it gives its last words again at every event that follows.
          expect(text.slice(0, TEXT.length)).to.equal(TEXT);
        });
        expect(costs).to.deep.equal([COST.streamed]);
      });

      it('runs tools', async () => {
        const costs = await acme.charged(async () => {
          const asked = await model().exec({ ...HELLO, tools: [weather] });
          expect(asked.toolCalls.map(({ input }) => input)).to.deep.equal([{ city: 'Oslo' }]);
          const messages = [...HELLO.messages, ...asked.newMessages];
          const told = await model().exec({ messages, tools: [weather] });
          expect(told.newMessages.at(-1)?.content).to.equal(TEXT);
        });
        expect(costs).to.deep.equal([COST.tool, COST.whole]);
      });

      for (const { status, model: id, key, says } of REFUSALS) {
        it(`throws an error for ${status}, with our words`, async () => {
          const error = await errorOf(model(id, key(acme)).chat(HELLO));
          expect(error).to.be.instanceOf(Error).with.property('status', status);
          expect((error as Error).message).to.match(says);
        });
      }
    });
  }

  it('answers in JSON by a schema', async () => {
    const responseFormat = z.object({ city: z.string(), rain: z.boolean() });
    const { message } = await new OpenAI(settings()).chat({ ...HELLO, responseFormat });
    expect(JSON.parse(message.content as string)).to.deep.equal(OBJECT);
  });

  it('embeds texts', async () => {
    const costs = await acme.charged(async () => {
      const vectors = await new OpenAIEmbedding(settings('acme-vectors')).getTextEmbeddings([
        'a',
        'b',
      ]);
      expect(vectors).to.deep.equal([VECTOR, VECTOR]);
    });
    expect(costs).to.deep.equal([COST.vector]);
  });
});
