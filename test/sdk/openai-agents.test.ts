import {
  Agent,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
  type AgentOutputType,
} from '@openai/agents';
import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { z } from 'zod';
import {
  COST,
  errorOf,
  OBJECT,
  REFUSALS,
  startSdkGateway,
  TEXT,
  type SdkGateway,
} from './helpers/sdk-gateway.js';

describe('the OpenAI Agents SDK', () => {
  let acme: SdkGateway;
  const cities: unknown[] = [];

  before(async () => {
    // Traces would be sent to OpenAI.
    setTracingDisabled(true);
    acme = await startSdkGateway();
  });
  after(() => acme.close());

  const weather = tool({
    name: 'weather',
    description: 'The weather in a city.',
    parameters: z.object({ city: z.string() }),
    execute: (place) => {
      cities.push(place);
      return 'Rain.';
    },
  });

  for (const useResponses of [true, false]) {
    describe(useResponses ? 'with responses, its default' : 'with chat completions', () => {
      const runner = (apiKey = acme.secret): Runner => {
        const baseURL = `${acme.url}/v1`;
        const openAIClient = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
        const modelProvider = new OpenAIProvider({ openAIClient, useResponses });
        return new Runner({ modelProvider, tracingDisabled: true });
      };
      const agent = (model = 'acme-chat', tools: (typeof weather)[] = []) =>
        new Agent({ name: 'Ada', instructions: 'Be brief.', model, tools });

      it('runs an agent', async () => {
        const costs = await acme.charged(async () => {
          const { finalOutput, rawResponses } = await runner().run(agent(), 'Hello!');
          expect(finalOutput).to.equal(TEXT);
          expect(rawResponses[0]?.usage).to.include({ inputTokens: 9, outputTokens: 5 });
        });
        expect(costs).to.deep.equal([COST.whole]);
      });

      it('streams an agent', async () => {
        const costs = await acme.charged(async () => {
          const run = await runner().run(agent(), 'Hello!', { stream: true });
          let text = '';
          for await (const part of run.toTextStream()) text += part;
          await run.completed;
          expect([text, run.finalOutput]).to.deep.equal([TEXT, TEXT]);
        });
        expect(costs).to.deep.equal([COST.streamed]);
      });

      for (const stream of [false, true]) {
        it(`runs its tools ${stream ? 'streamed' : 'whole'}`, async () => {
          cities.length = 0;
          const costs = await acme.charged(async () => {
            const asked = agent('acme-chat', [weather]);
            if (stream) {
              const run = await runner().run(asked, 'Oslo?', { stream });
              await run.completed;
              expect(run.finalOutput).to.equal(TEXT);
            } else expect((await runner().run(asked, 'Oslo?')).finalOutput).to.equal(TEXT);
          });
          expect(cities).to.deep.equal([{ city: 'Oslo' }]);
          expect(costs).to.deep.equal([COST.tool, stream ? COST.streamed : COST.whole]);
        });
      }

      it('gives an output of a schema', async () => {
        const outputType = z.object({ city: z.string(), rain: z.boolean() });
        const asked = new Agent<unknown, AgentOutputType>({
          name: 'Ada',
          model: 'acme-chat',
          outputType,
        });
        expect((await runner().run(asked, 'Oslo?')).finalOutput).to.deep.equal(OBJECT);
      });

      for (const { status, model, key, says } of REFUSALS) {
        it(`throws an error for ${status}, with our words`, async () => {
          const error = await errorOf(runner(key(acme)).run(agent(model), 'Hello!'));
          expect(error).to.be.instanceOf(APIError).with.property('status', status);
          expect((error as APIError).message).to.match(says);
        });
      }
    });
  }
});
