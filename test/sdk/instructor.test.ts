import createInstructor from '@instructor-ai/instructor';
import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { z } from 'zod/v3';
import {
  COST,
  errorOf,
  OBJECT,
  REFUSALS,
  startSdkGateway,
  type SdkGateway,
} from './helpers/sdk-gateway.js';

const SCHEMA = z.object({ city: z.string(), rain: z.boolean() });

describe('Instructor', () => {
  let acme: SdkGateway;
  before(async () => {
    acme = await startSdkGateway();
  });
  after(() => acme.close());

  const request = (model = 'acme-chat') => ({
    model,
    messages: [{ role: 'user' as const, content: 'Oslo?' }],
    response_model: { schema: SCHEMA, name: 'Place' },
  });
  const connect = (mode: 'TOOLS' | 'JSON' | 'JSON_SCHEMA' | 'FUNCTIONS', apiKey = acme.secret) => {
    const client = new OpenAI({ baseURL: `${acme.url}/v1`, apiKey, maxRetries: 0 });
    return createInstructor({ client, mode });
  };

  for (const mode of ['TOOLS', 'JSON', 'JSON_SCHEMA'] as const) {
    it(`makes an object by ${mode}`, async () => {
      const costs = await acme.charged(async () => {
        const place: unknown = await connect(mode).chat.completions.create(request());
        expect(place).to.deep.include(OBJECT);
      });
      expect(costs).to.deep.equal([mode === 'TOOLS' ? COST.tool : COST.whole]);
    });

    it(`streams an object by ${mode}`, async () => {
      const costs = await acme.charged(async () => {
        const asked = { ...request(), stream: true as const };
        const parts = (await connect(mode).chat.completions.create(asked)) as AsyncIterable<object>;
        let last = {};
        for await (const part of parts) last = part;
        expect(last).to.deep.include(OBJECT);
      });
      expect(costs).to.deep.equal([mode === 'TOOLS' ? COST.tool : COST.streamed]);
    });
  }

  describe('refused', () => {
    // It writes each error to the console too, whatever its settings are.
    const { error: write } = console;
    before(() => {
      console.error = () => undefined;
    });
    after(() => {
      console.error = write;
    });

    for (const { status, model, key, says } of REFUSALS) {
      it(`throws an error for ${status}, with our words`, async () => {
        const client = connect('TOOLS', key(acme));
        const error = await errorOf(client.chat.completions.create(request(model)));
        expect(error).to.be.instanceOf(APIError).with.property('status', status);
        expect((error as APIError).message).to.match(says);
      });
    }
  });
});
