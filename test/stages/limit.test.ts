import { expect } from 'chai';
import { openStore } from '../../src/store/open.js';
import { ask, errorOf, type Answer } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import {
  chatJson,
  play,
  startUpstream,
  type FakeUpstream,
  type Step,
} from '../helpers/upstream.js';

const MINUTE_MS = 60_000;
const BEGIN_MS = 1_800_000_000_000;
const messages = [{ role: 'user', content: 'Hello!' }];

interface Limited extends TestGateway {
  clock: { now_ms: number };
  upstream: FakeUpstream;
  step: Step;
  chat(model?: string, rest?: object): Promise<Answer>;
}

/** A gateway with these settings, whose clock stands 12 seconds before the end of a minute. */
async function startLimited(settings: string, own = '', has_workers = false): Promise<Limited> {
  const clock = { now_ms: BEGIN_MS + 48_000 };
  const limited = { clock, step: chatJson('Good day.') } as Limited;
  const upstream = await startUpstream((_, response) => play(limited.step, response));
  const model = (rates: string): string =>
    `{ owner: acme, capabilities: [chat], upstreams: [{ provider: up, model: m }], price: { input_per_million: 1, output_per_million: 1 }${rates} }`;
  const yaml = `${settings}
owners: { acme: { name: Acme } }
providers: { up: { uses: openai, base_url: '${upstream.url}', api_key: sk-up } }
models: { plain: ${model('')}, rated: ${model(', rates: { requests_per_minute: 1 }')} }
${own}`;
  const gateway = await startGateway(yaml, { now: () => clock.now_ms, has_workers });
  const chat = (id = 'plain', rest: object = {}): Promise<Answer> =>
    post(limited, '/v1/chat/completions', { model: id, messages, max_tokens: 50, ...rest });
  return Object.assign(limited, gateway, {
    upstream,
    chat,
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  });
}

function post(at: Limited, path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return ask(at, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

function headersOf({ headers }: Answer): Record<string, string> {
  const names = /^(?:x-ratelimit-.*|ratelimit.*|retry-after.*|anthropic-ratelimit-.*|x-should.*)$/;
  return Object.fromEntries([...headers].filter(([name]) => names.test(name)));
}

describe('the stage limit', () => {
  let open: Limited | undefined;
  const start = async (...options: Parameters<typeof startLimited>): Promise<Limited> =>
    (open = await startLimited(...options));
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });

  it('refuses a request beyond the minute, and says who limits it and when to try again', async () => {
    const limited = await start(
      'metrics: 127.0.0.1:9464\nrates: { key: { requests_per_minute: 2 } }',
    );
    const first = await limited.chat();
    expect(first.status).to.equal(200);
    expect(headersOf(first)).to.deep.equal({
      'ratelimit-policy': '"key";q=2;w=60',
      ratelimit: '"key";r=1;t=12',
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '12s',
    });
    const stream = await limited.chat('plain', { stream: true });
    expect(headersOf(stream)).to.include({ 'x-ratelimit-remaining-requests': '0' });
    const refused = await limited.chat();
    expect(refused.status).to.equal(429);
    expect(errorOf(refused)).to.deep.equal({
      message: 'This API key may send 2 requests a minute; try again in 12 s.',
      type: 'rate_limit_error',
      code: 'rate_limited',
      param: null,
    });
    expect(headersOf(refused)).to.include({
      'retry-after': '12',
      'retry-after-ms': '12000',
      ratelimit: '"key";r=0;t=12',
    });
    expect(limited.upstream.requests).to.have.length(2);
    limited.clock.now_ms += 12_000;
    expect((await limited.chat()).status).to.equal(200);
    const { store } = limited.gateway;
    const metrics = await limited.gateway.views.metrics?.text();
    expect(metrics)
      .to.include('tollgate_rate_limited_total{limiter="key",unit="requests"} 1')
      .and.match(/tollgate_requests_total\{.*status="429",code="rate_limited"\} 1/);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('counts the most tokens first, and the usage once the answer has ended', async () => {
    const limited = await start('rates: { account: { tokens_per_minute: 1000 } }');
    const first = await limited.chat('plain', { max_tokens: 800 });
    const [, held = ''] = /r=(\d+)/.exec(first.headers.get('ratelimit') ?? '') ?? [];
    expect(Number(held)).to.be.within(0, 199);
    const second = await limited.chat('plain', { max_tokens: 850 });
    // The first one has used 14 tokens.
    expect(Number(second.headers.get('x-ratelimit-remaining-tokens'))).to.equal(Number(held) - 64);
    const large = await limited.chat('plain', { max_tokens: 2_000 });
    expect(errorOf(large).message).to.match(
      /^This request may use up to 20\d\d tokens, but this account may use 1000 tokens a minute: /,
    );
    expect(headersOf(large))
      .to.include({ 'x-should-retry': 'false' })
      .and.not.have.keys('retry-after');
    const third = await limited.chat('plain', { max_tokens: 890 });
    expect(errorOf(third).message).to.match(
      /^This account may use 1000 tokens a minute, of which 28 are used, and this request may use /,
    );
  });

  it('gives back the tokens of a request that was refused or has failed', async () => {
    const limited = await start('rates: { account: { tokens_per_minute: 1000 } }');
    limited.step = { status: 500, body: '{}' };
    expect((await limited.chat('plain', { max_tokens: 800 })).status).to.equal(502);
    limited.step = chatJson('Good day.');
    expect((await limited.chat('plain', { max_tokens: 800 })).status).to.equal(200);
  });

  it('admits a request at once when another has ended, streamed or not', async () => {
    const limited = await start('rates: { key: { concurrent_requests: 1 } }');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    limited.step = { ...chatJson('Good day.'), hold: held };
    const first = limited.chat();
    while (limited.upstream.requests.length === 0) await new Promise(setImmediate);
    const refused = await limited.chat();
    expect(errorOf(refused).message).to.equal(
      'This API key may have 1 request at once; try again when one has ended.',
    );
    expect(headersOf(refused)).to.deep.include({
      'retry-after': '1',
      'ratelimit-policy': '"key-concurrent";q=1;qu="concurrent-requests"',
    });
    release();
    expect((await first).status).to.equal(200);
    for (const stream of [true, false, true]) {
      expect((await limited.chat('plain', { stream })).status).to.equal(200);
    }
  });

  it('names the model or the gateway that limits, and refuses no other model', async () => {
    const limited = await start('rates: { all: { requests_per_minute: 3 } }');
    expect((await limited.chat('rated')).status).to.equal(200);
    expect(errorOf(await limited.chat('rated')).message).to.equal(
      'The model "rated" takes 1 request a minute; try again in 12 s.',
    );
    expect((await limited.chat()).status).to.equal(200);
    expect((await limited.chat()).status).to.equal(200);
    expect(errorOf(await limited.chat()).message).to.equal(
      'This gateway takes 3 requests a minute; try again in 12 s.',
    );
  });

  it('counts an endpoint with limits of its own for itself', async () => {
    const limited = await start(
      'rates: { key: { requests_per_minute: 1 } }',
      'endpoints: { own: { at: POST /own, stages: [auth, validate: chat-completion, route: { capability: chat }, limit: { key: { requests_per_minute: 2 } }, balance, transform: chat, meter] } }',
    );
    const own = () => post(limited, '/own', { model: 'plain', messages });
    expect((await limited.chat()).status).to.equal(200);
    expect((await limited.chat()).status).to.equal(429);
    expect([(await own()).status, (await own()).status]).to.deep.equal([200, 200]);
    expect(errorOf(await own()).message).to.equal(
      'This API key may send 2 requests a minute at this endpoint; try again in 12 s.',
    );
  });

  it('lets the terms of a key and an account win over those of the file', async () => {
    const limited = await start(
      'rates: { key: { requests_per_minute: 9, tokens_per_minute: 999999 }, account: { requests_per_minute: 9 } }',
    );
    const { store } = limited.gateway;
    const { id } = limited.account;
    const { secret } = await store.createKey(id, 'slow', { rates: { requests_per_minute: 1 } });
    const slow = { ...limited, secret };
    const body = { model: 'plain', messages };
    const first = await post(slow, '/v1/chat/completions', body);
    expect(first.headers.get('ratelimit-policy')).to.include(
      '"key";q=1;w=60, "key-tokens";q=999999;w=60;qu="tokens", "account";q=9;w=60',
    );
    expect((await post(slow, '/v1/chat/completions', body)).status).to.equal(429);
    await store.editAccount(id, { rates: { requests_per_minute: 1 } });
    expect(errorOf(await limited.chat()).message).to.match(/^This account may send 1 request a/);
  });

  it('shares its counters where several processes serve one store', async () => {
    const rates = '{ requests_per_minute: 3, tokens_per_minute: 9000, concurrent_requests: 1 }';
    const limited = await start(`rates: { key: ${rates} }`, '', true);
    for (const stream of [true, false]) {
      expect((await limited.chat('plain', { stream })).status).to.equal(200);
    }
    const url = `sqlite:${limited.folder}/tollgate.db`;
    const other = await openStore(url, { now: () => limited.clock.now_ms });
    const limits = [
      {
        counter: `key ${limited.key_id}`,
        rates: { requests_per_minute: 3, concurrent_requests: 1 },
      },
    ];
    const { admitted, counts } = await other.rates.take({ request_id: 'r1', limits, tokens: 1 });
    expect(admitted).to.equal(true);
    // Each answer has used 14 tokens.
    expect(counts[0]).to.deep.include({ requests: 3, tokens: 29, in_flight: 1 });
    expect(errorOf(await limited.chat()).message).to.match(/^This API key may send 3 requests a/);
    await other.close();
    expect((await limited.gateway.store.verify()).faults).to.deep.equal([]);
  });

  it('refuses in the words and headers of each API', async () => {
    const limited = await start('rates: { key: { requests_per_minute: 1 } }');
    await limited.chat();
    const message = 'This API key may send 1 request a minute; try again in 12 s.';
    const anthropic = await post(limited, '/v1/messages', {
      model: 'plain',
      max_tokens: 9,
      messages,
    });
    expect(JSON.parse(anthropic.text)).to.deep.include({
      type: 'error',
      error: { type: 'rate_limit_error', message },
    });
    const reset = new Date(BEGIN_MS + MINUTE_MS).toISOString();
    expect(headersOf(anthropic)).to.include({
      'retry-after': '12',
      'anthropic-ratelimit-requests-limit': '1',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': reset,
    });
    const contents = [{ role: 'user', parts: [{ text: 'Hello!' }] }];
    const gemini = await post(limited, '/v1beta/models/plain:generateContent', { contents });
    expect(JSON.parse(gemini.text)).to.deep.equal({
      error: {
        code: 429,
        message,
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' }],
      },
    });
    for (const path of ['/v1/responses', '/openai/v1/chat/completions']) {
      const body = { model: 'plain', messages, input: 'Hello!', stream: true };
      const { status, text } = await post(limited, path, body);
      expect(status, path).to.equal(429);
      expect(JSON.parse(text), path).to.deep.equal({
        error: { message, type: 'rate_limit_error', code: 'rate_limited', param: null },
      });
    }
  });
});
