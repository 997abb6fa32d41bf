import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { pngHead } from '../../../helpers/picture.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { itCountsForFree, LIMITED_MODEL, tokenCounter } from './helpers/counting.js';

const HELLO = { model: 'acme-chat', messages: [{ role: 'user', content: 'Hello, world!' }] };

describe('POST /v1/messages/count_tokens', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({
      models: LIMITED_MODEL,
      yaml: `
endpoints:
  anything:
    at: POST /count
    stages: [auth, validate: chat-completion, route: { capability: chat }, transform: count-tokens]
  count:
    at: POST /v1/messages/count_tokens
    stages: [auth, validate: messages-count, route: { capability: chat }, transform: count-tokens]
`,
    });
  });
  after(() => acme.close());

  const counter = tokenCounter(() => acme, '/v1/messages/count_tokens?beta=true');
  const { post, count } = counter;
  itCountsForFree(() => acme, counter, HELLO, { max_tokens: 99 });

  it('counts the prompt: its messages, its system prompt and its tools', async () => {
    const alone = await count(HELLO);
    expect(alone).to.be.within(5, 16);
    expect(await count({ ...HELLO, system: 'Be brief.' })).to.be.above(alone);
    const tools = [{ name: 'weather', description: 'Tells the weather.', input_schema: {} }];
    const all = { ...HELLO, model: 'acme-all' };
    expect(await count({ ...all, tools })).to.be.above(await count({ ...all, tools: [] }));
  });

  it('counted the most that any picture costs for each, whatever its size', async () => {
    const text = { type: 'text', text: 'What is this?' };
    const picture = (side: number): object => ({
      type: 'image',
      source: {
        type: 'base64',
        media_type: 'image/png',
        data: pngHead(side, side).toString('base64'),
      },
    });
    const counted = (...blocks: object[]) =>
      count({ model: 'acme-all', messages: [{ role: 'user', content: [text, ...blocks] }] });
    const alone = await counted();
    expect((await counted(picture(1))) - alone).to.equal(1);
    expect((await counted(picture(1_024))) - alone).to.equal(1_369);
    expect((await counted(picture(8_000))) - alone).to.equal(25_600);
  });

  it("answers Anthropic's own client", async () => {
    const client = new Anthropic({ apiKey: acme.secret, baseURL: acme.url, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello, world!' }];
    const { input_tokens } = await client.messages.countTokens({ model: 'acme-chat', messages });
    expect(input_tokens).to.equal(await count(HELLO));
  });

  it('counts a prompt in the words of another format, where an endpoint says so', async () => {
    const { status, text } = await post(HELLO, {}, '/count?beta=true');
    expect([status, text]).to.deep.equal([200, `{"input_tokens":${await count(HELLO)}}`]);
  });

  for (const [what, body, headers, status, type] of [
    ['a wrong key', HELLO, { 'x-api-key': 'tg-wrong' }, 401, 'authentication_error'],
    ['no message', { ...HELLO, messages: [] }, {}, 400, 'invalid_request_error'],
    ['an unknown model', { ...HELLO, model: 'nobody' }, {}, 400, 'invalid_request_error'],
  ] as const) {
    it(`refuses ${what} in Anthropic's shape`, async () => {
      const answer = await post(body, headers);
      expect(answer.status).to.equal(status);
      expect(JSON.parse(answer.text)).to.have.nested.property('error.type', type);
    });
  }
});
