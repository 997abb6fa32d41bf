import { expect } from 'chai';
import { ask, type Answer } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { chatJson, startUpstream, type FakeUpstream } from '../../helpers/upstream.js';

const CONTEXT = 100;
/** As many bytes as the longest token of a vocabulary has, times the context. */
const FULL = ' '.repeat(128 * CONTEXT);
const SAID = `The prompt is too long: ${CONTEXT + 1} tokens > ${CONTEXT} maximum, at the least.`;

describe('a prompt that is certainly longer than the context', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream(chatJson('Good day.'));
    gateway = await startGateway(`owners: { me: { name: Me } }
providers: { acme: { uses: openai, base_url: '${upstream.url}', api_key: sk-up } }
models:
  small: { owner: me, capabilities: [chat, tools], upstreams: [{ provider: acme }], limits: { context: ${CONTEXT}, max_tokens: 9 }, price: { input_per_million: 1, output_per_million: 2 } }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const post = (path: string, body: object): Promise<Answer> =>
    ask(gateway, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const messages = (content: string) => [{ role: 'user', content }];
  const errorIn = ({ text }: Answer) => (JSON.parse(text) as { error: unknown }).error;

  it('was sent, and is 400 before anything is held for it', async () => {
    const refused = await post('/v1/chat/completions', {
      model: 'small',
      messages: messages(`${FULL}x`),
    });
    expect([refused.status, errorIn(refused)]).to.deep.equal([
      400,
      {
        message: SAID,
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        param: 'messages',
      },
    ]);
    expect(upstream.requests).to.deep.equal([]);
  });

  it('is told in the words of each API', async () => {
    const claude = await post('/v1/messages', {
      model: 'small',
      max_tokens: 9,
      messages: messages(`${FULL}x`),
    });
    expect(errorIn(claude)).to.deep.equal({
      type: 'invalid_request_error',
      message: `prompt is too long: ${CONTEXT + 1} tokens > ${CONTEXT} maximum`,
    });
    const responses = await post('/v1/responses', { model: 'small', input: `${FULL}x` });
    expect(errorIn(responses)).to.include({ code: 'context_length_exceeded', param: 'input' });
  });

  it('is one only by its text, and not where the upstream may still take it', async () => {
    const whole = { model: 'small', messages: messages(FULL) };
    expect((await post('/v1/chat/completions', whole)).status).to.equal(200);
    const parameters = { type: 'object', description: `${FULL}x` };
    const tools = [{ type: 'function', function: { name: 'look', parameters } }];
    const long = { model: 'small', messages: messages('Hi'), tools };
    expect((await post('/v1/chat/completions', long)).status).to.equal(200);
  });

  it('is counted all the same', async () => {
    const asked = { model: 'small', messages: messages(`${FULL}x`) };
    const { status, text } = await post('/v1/messages/count_tokens', asked);
    expect(status, text).to.equal(200);
    const contents = [{ parts: [{ text: `${FULL}x` }] }];
    expect((await post('/v1beta/models/small:countTokens', { contents })).status).to.equal(200);
  });
});
