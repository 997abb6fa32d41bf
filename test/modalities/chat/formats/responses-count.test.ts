import OpenAI from 'openai';
import { expect } from 'chai';
import { errorOf } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { itCountsForFree, LIMITED_MODEL, tokenCounter } from './helpers/counting.js';

const HELLO = { model: 'acme-chat', input: 'Hello, world!' };

describe('POST /v1/responses/input_tokens', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({ models: LIMITED_MODEL });
  });
  after(() => acme.close());

  const counter = tokenCounter(() => acme, '/v1/responses/input_tokens', {
    object: 'response.input_tokens',
  });
  const { post, count } = counter;
  itCountsForFree(() => acme, counter, HELLO, { max_output_tokens: 99, stream: true });

  it('counts as the Messages API does', async () => {
    const { model, input: content } = HELLO;
    const messages = [{ role: 'user', content }];
    const { text } = await post({ model, messages }, {}, '/v1/messages/count_tokens');
    expect(JSON.parse(text)).to.deep.equal({ input_tokens: await count(HELLO) });
    const alone = await count(HELLO);
    expect(await count({ ...HELLO, instructions: 'Be brief.' })).to.be.above(alone);
  });

  it("answers OpenAI's own client", async () => {
    const client = new OpenAI({ apiKey: acme.secret, baseURL: `${acme.url}/v1`, maxRetries: 0 });
    const { input_tokens } = await client.responses.inputTokens.count(HELLO);
    expect(input_tokens).to.equal(await count(HELLO));
  });

  for (const [param, value] of [
    ['conversation', 'conv_1'],
    ['conversation', { id: 'conv_1' }],
    ['previous_response_id', 'resp_1'],
    ['background', true],
  ] as const) {
    for (const path of ['/v1/responses', '/v1/responses/input_tokens']) {
      it(`refuses ${param} (${typeof value}) in words at ${path}, and names the field`, async () => {
        const answer = await post({ ...HELLO, [param]: value }, {}, path);
        const { message, param: named } = errorOf(answer);
        expect([answer.status, named]).to.deep.equal([400, param]);
        expect(message).to.match(/^\w+ cannot be used, as answers are not kept: (?:send|wait) /u);
      });
    }
  }
});
