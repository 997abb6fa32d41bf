import { expect } from 'chai';
import { pino } from 'pino';
import OpenAI from 'openai';
import { ask, type Answer } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { play, startUpstream, type FakeUpstream, type Step } from '../../../helpers/upstream.js';

interface Failed {
  type: string;
  response: { status: string; error: { code: string; message: string } | null };
}

const refusal = (status: number, code: string): Step => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { message: `Said ${code}.`, type: 'x', code } }),
});

/** What the upstream answers, by the name of the model. */
const STEPS: Readonly<Record<string, Step>> = {
  long: refusal(400, 'context_length_exceeded'),
  unsafe: refusal(400, 'content_policy_violation'),
  wrong: refusal(400, 'invalid_request_error'),
  busy: refusal(429, 'rate_limit_exceeded'),
  down: refusal(500, 'internal'),
};

const entry = (name: string): string =>
  `${name}: { owner: acme, capabilities: [chat], price: { input_per_million: 1, output_per_million: 2 }, ` +
  `upstreams: [{ provider: acme, model: ${name} }, { provider: spare, model: ${name} }] }`;

describe('a failure of a streamed response', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let poor: string;
  const lines: string[] = [];
  before(async () => {
    upstream = await startUpstream(async ({ json }, response) => {
      await play(STEPS[(json as { model: string }).model] ?? {}, response);
    });
    const at = `{ uses: openai, base_url: '${upstream.url}', api_key: sk-acme-secret }`;
    const yaml = `owners: { acme: { name: Acme } }
providers: { acme: ${at}, spare: ${at} }
models:
  ${Object.keys(STEPS).map(entry).join('\n  ')}
`;
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
    gateway = await startGateway(yaml, { log });
    const { store } = gateway.gateway;
    const { id } = await store.createAccount('poor', 0n);
    ({ secret: poor } = await store.createKey(id, 'k'));
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.requests.length = 0;
    lines.length = 0;
  });
  afterEach(async () => {
    const { store } = gateway.gateway;
    const { open_holds, faults } = await store.verify();
    expect([open_holds, faults]).to.deep.equal([0, []]);
    expect((await store.account(gateway.account.id))?.balance_nano).to.equal(10_000_000_000n);
  });

  const post = (
    body: object,
    secret = gateway.secret,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    ask({ url: gateway.url, secret }, '/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ input: 'Hello!', ...body }),
    });
  const eventsOf = ({ text }: Answer): Failed[] =>
    [...text.matchAll(/^data: (.*)$/gmu)].map(([, data = '']) => JSON.parse(data) as Failed);
  const loggedStatus = (): unknown =>
    lines
      .map((line) => JSON.parse(line) as { msg: string; status?: number })
      .find(({ msg }) => msg.startsWith('POST'))?.status;

  for (const [what, model, code, status, calls] of [
    ['too long a prompt', 'long', 'context_length_exceeded', 400, 2],
    ['a prompt against the rules', 'unsafe', 'invalid_prompt', 400, 1],
    ['upstreams that are down', 'down', 'server_is_overloaded', 502, 2],
    ['upstreams that are busy', 'busy', 'server_is_overloaded', 502, 2],
    ['an account without money', 'down', 'insufficient_quota', 402, 0],
  ] as const) {
    const key = (): string => (status === 402 ? poor : gateway.secret);

    it(`is told as response.failed for ${what}, so that codex asks once`, async () => {
      const answer = await post({ model, stream: true }, key());
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
      const events = eventsOf(answer);
      expect(events.map(({ type }) => type)).to.deep.equal([
        'response.created',
        'response.in_progress',
        'response.failed',
      ]);
      expect(events.at(-1)?.response).to.deep.include({ status: 'failed' });
      expect(events.at(-1)?.response.error?.code).to.equal(code);
      expect(upstream.requests).to.have.length(calls);
      expect(loggedStatus()).to.equal(status);
    });

    it(`keeps its status for ${what} where nothing is streamed`, async () => {
      const answer = await post({ model }, key());
      expect(answer.status).to.equal(status);
      expect(JSON.parse(answer.text)).to.have.nested.property('error.message');
    });
  }

  it('says what an account without money could do', async () => {
    const failed = eventsOf(await post({ model: 'down', stream: true }, poor)).at(-1);
    expect(failed?.response.error?.message).to.include('the balance is $0');
  });

  it('is told so before a large body is read, to a client that takes a stream', async () => {
    // Too large to arrive together with its head, however long the gateway is busy.
    const body = { model: 'down', stream: true, input: 'x'.repeat(1_000_000) };
    const answer = await post(body, poor, { accept: 'text/event-stream' });
    expect(answer.status).to.equal(200);
    expect(eventsOf(answer).at(-1)?.response.error?.code).to.equal('insufficient_quota');
    expect((await post(body, poor)).status).to.equal(402);
  });

  for (const [what, body, status] of [
    ['a wrong body', { model: 'down', input: [] }, 400],
    ['an unknown model', { model: 'none' }, 400],
    ['a request that the upstream calls wrong', { model: 'wrong' }, 400],
    ['a wrong key', { model: 'down' }, 401],
  ] as const) {
    it(`keeps its status for ${what}: the client has something to mend`, async () => {
      const answer = await post({ ...body, stream: true }, status === 401 ? 'tg-wrong' : undefined);
      expect(answer.status).to.equal(status);
    });
  }

  it("reaches OpenAI's own client, which asks no upstream again", async () => {
    const client = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1` });
    const stream = client.responses.stream({ model: 'down', input: 'Hello!' });
    const { status, error } = await stream.finalResponse();
    expect([status, error?.code]).to.deep.equal(['failed', 'server_is_overloaded']);
    expect(upstream.requests).to.have.length(2);
  });
});
