import { expect } from 'chai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startUpstream, type FakeUpstream } from '../helpers/upstream.js';

/** Text as a client may write it: more than 64 kB, with escapes that are not needed. */
const ESCAPED = String.raw`r\u00e9sum\u00e9 \/ \ud83c\udf0d: \"x\"\n`.repeat(3_000);
const TEXT = JSON.parse(`"${ESCAPED}"`) as string;

const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const ANSWERS: Record<string, object> = {
  '/chat/completions': {
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage,
  },
  '/messages': {
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 9, output_tokens: 2 },
  },
  '/responses': {
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
    ],
    usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
  },
};

/** A body of each client format whose text stands in the place of `@`. */
const BODIES: Record<string, string> = {
  '/v1/chat/completions': '{"model":"@m","messages":[{"role":"user","content":"@"}]}',
  '/v1/messages':
    '{"model":"@m","max_tokens":99,"messages":[{"role":"user","content":[{"type":"text","text":"@"}]}]}',
  '/v1/responses': '{"model":"@m","input":[{"role":"user","content":"@"}]}',
};

describe('a large turn', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream(({ path }, response) => {
      response.setHeader('content-type', 'application/json');
      if (path.startsWith('/broken')) response.statusCode = 503;
      response.end(JSON.stringify(ANSWERS[path]));
    });
    const price = '{ input_per_million: 1, output_per_million: 2 }';
    const model = (provider: string, name: string) =>
      `{ owner: a, capabilities: [chat], upstreams: [{ provider: ${provider}, model: ${name} }], price: ${price} }`;
    gateway = await startGateway(`owners: { a: { name: A } }
providers:
  open: { uses: openai, base_url: '${upstream.url}', api_key: sk }
  claude: { uses: anthropic, base_url: '${upstream.url}', api_key: sk }
  broken: { uses: openai, base_url: '${upstream.url}/broken', api_key: sk }
models:
  twice: { owner: a, capabilities: [chat], upstreams: [{ provider: broken, model: gpt-4o }, { provider: open, model: gpt-4o }], price: ${price} }
  chat: ${model('open', 'gpt-4o')}
  messages: ${model('claude', 'claude-sonnet-4-5')}
  responses: ${model('open', 'gpt-5-pro')}
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = (path: string, model: string): Promise<Response> => {
    const { secret, url } = gateway;
    const body = (BODIES[path] ?? '').replace('@m', model).replace('@', () => ESCAPED);
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    return fetch(url + path, { method: 'POST', headers, body });
  };

  for (const path of Object.keys(BODIES)) {
    for (const model of ['chat', 'messages', 'responses']) {
      it(`of ${path} reaches the wire of ${model} with its text as it was written`, async () => {
        expect((await send(path, model)).status).to.equal(200);
        const { body, json } = upstream.requests.at(-1)!;
        expect(body.includes(ESCAPED)).to.equal(true);
        expect(JSON.stringify(json).includes(JSON.stringify(TEXT))).to.equal(true);
      });
    }
  }

  it('that an upstream refuses is sent whole to the next one too', async () => {
    expect((await send('/v1/chat/completions', 'twice')).status).to.equal(200);
    const [refused, answered] = upstream.requests.slice(-2);
    expect(refused?.path).to.equal('/broken/chat/completions');
    expect(answered?.body === refused?.body && answered?.body.includes(ESCAPED)).to.equal(true);
  });
});
