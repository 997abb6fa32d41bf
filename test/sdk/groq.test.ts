import { expect } from 'chai';
import Groq, { APIError } from 'groq-sdk';
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
  type SdkGateway,
} from './helpers/sdk-gateway.js';

/** It puts `/openai/v1` behind the address that it is given. */
describe('the groq-sdk package', () => {
  let acme: SdkGateway;
  let client: Groq;

  const connect = (apiKey: string): Groq => new Groq({ baseURL: acme.url, apiKey, maxRetries: 0 });

  before(async () => {
    acme = await startSdkGateway();
    client = connect(acme.secret);
  });
  after(() => acme.close());

  it('creates a completion and sees its usage', async () => {
    const costs = await acme.charged(async () => {
      const { choices, usage } = await client.chat.completions.create(CHAT_CALL);
      expect(choices[0]?.message.content).to.equal(TEXT);
      expect(usage?.total_tokens).to.equal(14);
    });
    expect(costs).to.deep.equal([COST.whole]);
  });

  it('streams a completion', async () => {
    const costs = await acme.charged(async () => {
      let text = '';
      for await (const chunk of await client.chat.completions.create({
        ...CHAT_CALL,
        stream: true,
      })) {
        text += chunk.choices[0]?.delta.content ?? '';
      }
      expect(text).to.equal(TEXT);
    });
    expect(costs).to.deep.equal([COST.streamed]);
  });

  it('calls a tool', async () => {
    const costs = await acme.charged(async () => {
      const { choices } = await client.chat.completions.create({
        ...CHAT_CALL,
        tools: [CHAT_TOOL],
      });
      const [call] = choices[0]?.message.tool_calls ?? [];
      expect(call?.function).to.deep.equal({ name: 'weather', arguments: '{"city":"Oslo"}' });
    });
    expect(costs).to.deep.equal([COST.tool]);
  });

  it('answers in JSON by a schema', async () => {
    const { choices } = await client.chat.completions.create({
      ...CHAT_CALL,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).to.deep.equal(OBJECT);
  });

  it('lists models, and knows one by its name', async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).to.include('acme-chat');
    expect((await client.models.retrieve('acme-chat')).owned_by).to.equal('acme');
  });

  for (const { status, model, key, says } of REFUSALS) {
    it(`throws its own error for ${status}, with our words`, async () => {
      const error = await errorOf(
        connect(key(acme)).chat.completions.create({ ...CHAT_CALL, model }),
      );
      expect(error).to.be.instanceOf(APIError).with.property('status', status);
      expect((error as APIError).message).to.match(says);
    });
  }

  it('throws when a stream is cut by the upstream', async () => {
    const reading = (async () => {
      const cut = { ...CHAT_CALL, model: 'acme-cut', stream: true as const };
      for await (const _ of await client.chat.completions.create(cut));
    })();
    expect(await errorOf(reading)).to.be.instanceOf(Error);
  });
});
