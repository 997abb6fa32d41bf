import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import {
  APICallError,
  embedMany,
  experimental_generateImage as generateImage,
  generateText,
  jsonSchema,
  Output,
  stepCountIs,
  streamText,
  tool,
  type EmbeddingModel,
  type ImageModel,
  type LanguageModel,
} from 'ai';
import { expect } from 'chai';
import {
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

/** What one provider package of the AI SDK makes of the gateway. */
interface Provider {
  chat(id: string): LanguageModel;
  vectors?: (id: string) => EmbeddingModel;
  painter?: (id: string) => ImageModel;
}

type Connect = (url: string, apiKey: string) => Provider;

const PROVIDERS: Record<string, Connect> = {
  '@ai-sdk/openai (responses)': (url, apiKey) => {
    const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey });
    return {
      chat: openai,
      vectors: (id) => openai.textEmbeddingModel(id),
      painter: (id) => openai.image(id),
    };
  },
  '@ai-sdk/openai (chat)': (url, apiKey) => ({
    chat: (id) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat(id),
  }),
  '@ai-sdk/anthropic': (url, apiKey) => ({
    chat: createAnthropic({ baseURL: `${url}/v1`, apiKey }),
  }),
  '@ai-sdk/google': (url, apiKey) => ({
    chat: createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey }),
  }),
  '@ai-sdk/openai-compatible': (url, apiKey) => {
    const compatible = createOpenAICompatible({
      name: 'tollgate',
      baseURL: `${url}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    return {
      chat: compatible,
      vectors: (id) => compatible.textEmbeddingModel(id),
      painter: (id) => compatible.imageModel(id),
    };
  },
  '@openrouter/ai-sdk-provider': (url, apiKey) => {
    const openrouter = createOpenRouter({ baseURL: `${url}/v1`, apiKey });
    return {
      chat: (id) => openrouter.chat(id),
      vectors: (id) => openrouter.textEmbeddingModel(id),
    };
  },
};

const weather = tool({
  description: 'The weather in a city.',
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  execute: ({ city }) => Promise.resolve(`Rain in ${city}.`),
});
const withTools = {
  prompt: 'Oslo?',
  maxOutputTokens: 50,
  tools: { weather },
  stopWhen: stepCountIs(3),
};
const hello = { prompt: 'Hello!', maxOutputTokens: 50, maxRetries: 0 };

describe('the AI SDK', () => {
  let acme: SdkGateway;
  before(async () => {
    acme = await startSdkGateway();
  });
  after(() => acme.close());

  for (const [name, connect] of Object.entries(PROVIDERS)) {
    describe(`with ${name}`, () => {
      const at = (secret = acme.secret): Provider => connect(acme.url, secret);

      it('generates text and sees its usage', async () => {
        const costs = await acme.charged(async () => {
          const model = at().chat('acme-chat');
          const answer = await generateText({ model, system: 'Be brief.', ...hello });
          expect([answer.text, answer.finishReason]).to.deep.equal([TEXT, 'stop']);
          expect(answer.usage).to.include({ inputTokens: 9, outputTokens: 5, totalTokens: 14 });
        });
        expect(costs).to.deep.equal([COST.whole]);
      });

      it('streams text, with usage at the end', async () => {
        const costs = await acme.charged(async () => {
          const { textStream, usage } = streamText({ model: at().chat('acme-chat'), ...hello });
          let text = '';
          for await (const part of textStream) text += part;
          expect(text).to.equal(TEXT);
          expect((await usage).totalTokens).to.equal(13);
        });
        expect(costs).to.deep.equal([COST.streamed]);
      });

      it('runs tools', async () => {
        const costs = await acme.charged(async () => {
          const model = at().chat('acme-chat');
          const { text, steps } = await generateText({ model, ...withTools });
          expect(steps[0]?.toolResults[0]).to.include({ output: 'Rain in Oslo.' });
          expect(text).to.equal(TEXT);
        });
        expect(costs).to.deep.equal([COST.tool, COST.whole]);
      });

      it('runs tools streamed', async () => {
        const costs = await acme.charged(async () => {
          const { text, steps } = streamText({ model: at().chat('acme-chat'), ...withTools });
          expect(await text).to.equal(TEXT);
          expect((await steps)[0]?.toolResults[0]).to.include({ output: 'Rain in Oslo.' });
        });
        expect(costs).to.deep.equal([COST.tool, COST.streamed]);
      });

      it('makes an object of a schema', async () => {
        const schema = jsonSchema<typeof OBJECT>(SCHEMA);
        const output = Output.object({ schema });
        const answer = await generateText({ model: at().chat('acme-chat'), output, ...hello });
        expect(answer.output).to.deep.equal(OBJECT);
      });

      for (const { status, model: id, key, says } of REFUSALS) {
        it(`throws its own APICallError for ${status}, with our words`, async () => {
          const model = at(key(acme)).chat(id);
          const error = await errorOf(generateText({ model, ...hello }));
          if (!APICallError.isInstance(error)) throw error;
          expect(error.statusCode).to.equal(status);
          expect(error.message).to.match(says);
        });
      }

      it('reports a stream that the upstream has cut', async () => {
        const model = at().chat('acme-cut');
        const { fullStream } = streamText({ model, ...hello, onError: () => undefined });
        const seen: string[] = [];
        const reading = (async () => {
          for await (const { type } of fullStream) seen.push(type);
        })();
        // Where the connection is cut as well, reading throws.
        await reading.catch(() => seen.push('error'));
        expect(seen).to.include.members(['text-delta', 'error']);
      });

      const { vectors, painter } = connect('http://nowhere', 'k');
      if (vectors) {
        it('embeds values', async () => {
          const costs = await acme.charged(async () => {
            const model = at().vectors?.('acme-vectors');
            if (!model) throw new Error('There is no model.');
            const { embeddings, usage } = await embedMany({ model, values: ['a', 'b'] });
            expect(embeddings).to.deep.equal([VECTOR, VECTOR]);
            expect(usage.tokens).to.equal(3);
          });
          expect(costs).to.deep.equal([COST.vector]);
        });
      }
      if (painter) {
        it('makes images', async () => {
          const costs = await acme.charged(async () => {
            const model = at().painter?.('acme-painter');
            if (!model) throw new Error('There is no model.');
            const made = await generateImage({ model, prompt: 'A cat', size: '1024x1024' });
            expect(made.image.mediaType).to.equal('image/png');
          });
          expect(costs).to.deep.equal([COST.image]);
        });
      }
    });
  }
});
