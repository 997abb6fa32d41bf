import { expect } from 'chai';
import { inspect } from 'node:util';
import type { Provider, WireRequest } from '../../src/core/provider.js';
import { createPollClient, type PollClient } from '../../src/upstream/poll-client.js';
import {
  pollWithCredentials,
  createTokenSource,
  isGoogle,
  withCredentials,
  type TokenSource,
} from '../../src/upstream/credentials.js';
import { createNetwork } from '../../src/upstream/network.js';
import type { Network } from '../../src/upstream/network-types.js';
import {
  startTokenServer,
  type TokenServer,
  type TokenServerOptions,
} from '../helpers/token-server.js';
import { play, providerAt, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { toyAnswer, toyFiles } from '../helpers/toy-adapter.js';
import { HELLO, onlyCharge, scriptedGateways } from '../money/helpers/scripted-gateway.js';

const ASK: WireRequest = { method: 'GET', path: '/x', headers: { a: 'b' }, body: undefined };
const HOUR_MS = 3_600_000;

describe('the access tokens of a service account', () => {
  let now_ms = 0;
  let google: TokenSource;
  let network: Network;
  const open: FakeUpstream[] = [];
  beforeEach(() => {
    now_ms = 1_000_000;
    google = createTokenSource(() => now_ms);
    network = createNetwork({ connections: 32, idle_ms: 30_000 });
  });
  afterEach(async () => {
    await network.close();
    for (const upstream of open.splice(0)) await upstream.close();
  });

  async function tokenServer(options: TokenServerOptions = {}): Promise<TokenServer> {
    const server = await startTokenServer(options);
    open.push(server);
    return server;
  }

  /** An upstream that refuses all but the tokens that are good. */
  async function guarded(server: TokenServer, good: readonly string[]) {
    const upstream = await startUpstream(({ headers }, response) => {
      const status = good.includes(String(headers.authorization)) ? 200 : 401;
      return play({ status, body: '{}' }, response);
    });
    open.push(upstream);
    const provider = providerAt(`${upstream.url}/v1`, { service_account: server.account });
    return { upstream, provider };
  }

  async function send(provider: Provider, request = ASK): Promise<number> {
    const { signal } = new AbortController();
    const answer = await withCredentials(network, { tokens: google, now: () => now_ms }).send(
      provider,
      request,
      signal,
    );
    for await (const chunk of answer.body) void chunk;
    return answer.status;
  }

  async function faultOf(asked: Promise<unknown>): Promise<UpstreamError> {
    try {
      await asked;
    } catch (error) {
      if (error instanceof UpstreamError) return error;
      throw error;
    }
    throw new Error('There was a token.');
  }

  it('are asked for with a signed assertion of one hour', async () => {
    const server = await tokenServer();
    expect(await google.token(server.account)).to.equal('token-1');
    const [claims = {}] = server.claims;
    expect(claims).to.include({
      iss: 'robot@example.com',
      aud: 'https://oauth2.googleapis.com/token',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expect(Number(claims.exp) - Number(claims.iat)).to.equal(3_600);
  });

  it('are asked for once by 20 calls at the same time', async () => {
    const server = await tokenServer();
    const calls = Array.from({ length: 20 }, () => google.token(server.account));
    expect(new Set(await Promise.all(calls))).to.deep.equal(new Set(['token-1']));
    expect(await google.token(server.account)).to.equal('token-1');
    expect(server.requests).to.have.length(1);
  });

  it('are renewed five minutes before their end, and not earlier', async () => {
    const server = await tokenServer();
    await google.token(server.account);
    now_ms += HOUR_MS - 310_000;
    expect(await google.token(server.account)).to.equal('token-1');
    now_ms += 20_000;
    expect(await google.token(server.account)).to.equal('token-2');
  });

  it('are used for half their life where that is short', async () => {
    const server = await tokenServer({ expires_in: 100 });
    await google.token(server.account);
    now_ms += 40_000;
    expect(await google.token(server.account)).to.equal('token-1');
    now_ms += 20_000;
    expect(await google.token(server.account)).to.equal('token-2');
  });

  it('are kept apart by account', async () => {
    const [one, other] = [await tokenServer(), await tokenServer()];
    await google.token(one.account);
    await google.token(other.account);
    expect([one.requests.length, other.requests.length]).to.deep.equal([1, 1]);
  });

  for (const [refusal, fault] of [
    [{ status: 400, body: '{"error":"invalid_grant","error_description":"x"}' }, 'credentials'],
    [{ status: 503, body: '{}' }, 'unreachable'],
    [{ status: 200, body: '{}' }, 'credentials'],
  ] as const) {
    it(`are missed as ${fault} where the token server answers ${refusal.body}`, async () => {
      const server = await tokenServer({ refusal });
      const error = await faultOf(google.token(server.account));
      expect(error.fault).to.equal(fault);
      expect(server.requests).to.have.length(1);
      const sent = new URLSearchParams(server.requests[0]?.body).get('assertion') ?? '';
      const shown = inspect(error, { depth: 20, showHidden: true });
      expect(shown).to.not.include('PRIVATE KEY').and.not.include(sent);
    });
  }

  it('are missed as unreachable where there is no token server, and asked for again', async () => {
    const server = await tokenServer();
    const account = { ...server.account, token_url: 'http://127.0.0.1:9/token' };
    const { fault, codes } = await faultOf(google.token(account));
    expect({ fault, codes }).to.deep.equal({ fault: 'unreachable', codes: ['ECONNREFUSED'] });
    account.token_url = server.account.token_url;
    expect(await google.token(account)).to.equal('token-1');
  });

  it('are missed as credentials where the key signs nothing', async () => {
    const server = await tokenServer();
    const other = await tokenServer();
    const account = { ...server.account, private_key: other.account.private_key };
    const error = await faultOf(google.token(account));
    expect([error.fault, String(error.cause)]).to.deep.equal([
      'credentials',
      'Error: No access token: invalid_grant: Invalid JWT Signature.',
    ]);
  });

  it('go with every call to the provider, beside the headers of the call', async () => {
    const server = await tokenServer();
    const { upstream, provider } = await guarded(server, ['Bearer token-1']);
    expect([await send(provider), await send(provider)]).to.deep.equal([200, 200]);
    expect(upstream.requests[0]?.headers).to.include({ a: 'b', authorization: 'Bearer token-1' });
    expect(server.requests).to.have.length(1);
  });

  it('are renewed once where an upstream refuses one', async () => {
    const server = await tokenServer();
    const { upstream, provider } = await guarded(server, ['Bearer token-2']);
    expect(await send(provider)).to.equal(200);
    expect(await send(provider)).to.equal(200);
    expect([server.requests.length, upstream.requests.length]).to.deep.equal([2, 3]);
  });

  it('are not renewed again and again where an upstream refuses all', async () => {
    const server = await tokenServer();
    const { upstream, provider } = await guarded(server, []);
    expect(await send(provider)).to.equal(401);
    expect([server.requests.length, upstream.requests.length]).to.deep.equal([2, 2]);
  });

  it('are renewed once for 20 calls whose token is refused', async () => {
    const server = await tokenServer();
    const { provider } = await guarded(server, ['Bearer token-2']);
    const statuses = await Promise.all(Array.from({ length: 20 }, () => send(provider)));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(server.requests).to.have.length(2);
  });

  it('go with small questions too, and are renewed for them', async () => {
    const server = await tokenServer();
    const { provider } = await guarded(server, ['Bearer token-2']);
    const control = pollWithCredentials(createPollClient(network), {
      tokens: google,
      now: () => now_ms,
    });
    expect((await control.ask(provider, ASK, 1_000)).status).to.equal(200);
    control.close();
    expect(server.requests).to.have.length(2);
  });

  it('go neither to another address nor where they are not wanted', async () => {
    const server = await tokenServer();
    const other = await guarded(server, []);
    const wire = { image_hosts: [new URL(other.upstream.url).host] };
    const provider = { ...(await guarded(server, [])).provider, wire };
    await send(provider, { ...ASK, path: `${other.upstream.url}/y` });
    await send(provider, { ...ASK, credentials: false });
    await send(providerAt(other.upstream.url));
    expect(other.upstream.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      undefined,
      undefined,
    ]);
    expect(server.requests).to.have.length(0);
  });

  for (const [url, holds] of [
    ['https://storage.googleapis.com/storage/v1/b/x/o/y', true],
    ['https://us-central1-aiplatform.googleapis.com/v1', true],
    ['http://storage.googleapis.com/', false],
    ['https://storage.googleapis.com:8443/', false],
    ['https://googleapis.com.example.com/', false],
    ['https://notgoogleapis.com/', false],
    ['https://example.com/?x=.googleapis.com', false],
  ] as const) {
    it(`${holds ? 'may' : 'must not'} go to ${url}`, () => {
      expect(isGoogle(new URL(url))).to.equal(holds);
    });
  }
});

const SECRET = 'wJalrXUtnFEMI0123456789';
const SESSION = 'session-0123456789abcdef';
const NOW = Date.UTC(2026, 0, 2);
const KEYS = `region: us-east-1, access_key_id: AKIDEXAMPLE, secret_access_key: ${SECRET}`;
const ANSWER = toyAnswer([{ content: 'Hi' }], { prompt_tokens: 3, completion_tokens: 1 });
const AUTH = 'auth: { signer: ./toy.mjs }\nheaders: { X-House: tollgate }';

/** The signature of the toy signer, worked out from what came in. */
function signatureOf({ requests: [request], url }: FakeUpstream): string {
  const all = ['POST', url + request?.path, 'application/json', request?.body].join(' ');
  return createHash('sha256')
    .update(all + SECRET)
    .digest('hex');
}

describe('a provider whose requests are signed', () => {
  const open = scriptedGateways();
  const toy = { uses: './toy.yaml', files: toyFiles('', AUTH), now: () => NOW };

  it('gets the signature of its URL, headers, body and time', async () => {
    const provider = `${KEYS}, session_token: ${SESSION}`;
    const house = await open(ANSWER, { ...toy, provider, key: '' });
    expect((await house.post(HELLO)).status).to.equal(200);
    const { headers } = house.upstream.requests[0] ?? {};
    const expected = `TOY AKIDEXAMPLE us-east-1 ${NOW} ${signatureOf(house.upstream)}`;
    expect(headers).to.include({ authorization: expected, 'x-toy-token': SESSION });
    expect(headers).to.include({ 'x-house': 'tollgate' });
    await onlyCharge(house);
  });

  it('gets an API key as a bearer token, and no signature', async () => {
    const house = await open(ANSWER, { ...toy, provider: 'region: us-east-1' });
    expect((await house.post(HELLO)).status).to.equal(200);
    const { headers } = house.upstream.requests[0] ?? {};
    expect(headers?.authorization).to.match(/^Bearer sk-upstream-/u);
    expect(headers).not.to.have.property('x-toy-token');
    await onlyCharge(house);
  });

  it('shows none of its keys where the upstream repeats them in its error', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const said = `SignatureDoesNotMatch: AKIDEXAMPLE ${SECRET} x-amz-security-token:${SESSION}`;
    const error = { status: 400, body: JSON.stringify({ message: said }) };
    const provider = `${KEYS}, session_token: ${SESSION}`;
    const house = await open(error, { ...toy, provider, key: '', log });
    const answer = await (await house.post(HELLO)).text();
    expect(answer).to.contain('SignatureDoesNotMatch: *** *** x-amz-security-token:***');
    for (const secret of [SECRET, SESSION, 'AKIDEXAMPLE']) {
      expect(lines.join('')).not.to.contain(secret);
    }
  });

  it('is 502, with the reason and without the key in the log, where signing fails', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const failing =
      "export const sign = async (_, k) => { throw new Error('bad ' + k.secret_access_key); };";
    const files = { ...toyFiles('', 'auth: { signer: ./failing.mjs }'), 'failing.mjs': failing };
    const house = await open(ANSWER, { ...toy, files, provider: KEYS, key: '', log });
    const answer = await house.post(HELLO);
    expect(answer.status).to.equal(502);
    expect(await answer.text())
      .to.contain('could not sign')
      .and.not.to.contain('bad');
    expect(house.upstream.requests).to.have.length(0);
    expect(lines.join('')).to.contain('bad ***').and.not.to.contain(SECRET);
  });

  it('asks a provider within the process, which has no address, for its tasks', async () => {
    const asked: string[] = [];
    const polls: PollClient = {
      ask: (_, { path }) => {
        asked.push(path);
        return Promise.resolve({ status: 200, headers: {}, text: '{}' });
      },
      close: () => undefined,
    };
    const provider = providerAt('');
    const request = { method: 'GET' as const, path: '/jobs/1', headers: {}, body: undefined };
    await pollWithCredentials(polls, { tokens: createTokenSource(() => NOW), now: () => NOW }).ask(
      provider,
      request,
      1_024,
    );
    expect(asked).to.deep.equal(['/jobs/1']);
  });
});
