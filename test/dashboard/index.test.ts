import { expect } from 'chai';
import Koa from 'koa';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { AccessLog } from '../../src/telemetry/access-log.js';
import { respond } from '../../src/gateway/respond.js';
import { mount } from '../../src/dashboard/index.js';
import type { Route } from '../../src/dashboard/types.js';
import { GatewayError } from '../../src/core/errors.js';
import { ProviderHealth } from '../../src/telemetry/provider-health.js';
import type { State } from '../../src/pipeline/stage.js';
import type { Services } from '../../src/pipeline/services.js';
import { createRateLimiters } from '../../src/lib/rate-limiter.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';

const page = (path: string, more: Partial<Route> = {}): Route => ({
  method: 'GET',
  path,
  access: 'optional',
  answer: (ctx) => {
    ctx.body = `<p>${path} ${JSON.stringify(ctx.params)}</p>`;
  },
  ...more,
});
const failing = (error: Error) => ({
  answer: () => {
    throw error;
  },
});

const ROUTES: Route[] = [
  page('/'),
  page('/mine', { access: 'session' }),
  page('/mine', { access: 'session', method: 'POST' }),
  page('/items/:id'),
  page('/items/new'),
  page('/items/:id/parts/*rest'),
  page('/write', { method: 'POST' }),
  page('/styled', { inline_styles: true }),
  page('/broken', failing(new Error('secret <innards>'))),
  page('/refused', failing(new GatewayError('rate_limited', 'Wait & <see>.'))),
  page('/api/mine', { access: 'session' }),
  page('/api/mine', { access: 'session', method: 'DELETE' }),
  page('/api/broken', failing(new Error('secret innards'))),
];

async function serve(
  { gateway: { store, configuration } }: OpenaiGateway,
  public_url: string,
): Promise<{ server: Server; url: string }> {
  const log = pino({ level: 'silent' });
  const rate_limiters = createRateLimiters(Date.now);
  const site = { ...configuration, public_url };
  const health = new ProviderHealth(Date.now);
  const state = {
    phase: 'serving' as const,
    configuration_fault: undefined,
    configuration_reason: undefined,
    restart_keys: [],
    outdated: undefined,
    boxes_differ_in: [],
    store_hangs: false,
  };
  const told = { store, rate_limiters, health, log, now: Date.now, state };
  const services = { configuration: site, ...told };
  const app = new Koa<State>();
  app.silent = true;
  app.use((ctx, next) => {
    ctx.state.request_id = 'request-1';
    return next();
  });
  const access_log = new AccessLog(log);
  const responding = { ...services, access_log } as unknown as Services;
  app.use(respond(responding, state, async () => undefined));
  app.use(mount(services, ROUTES));
  app.use((ctx) => {
    ctx.body = 'elsewhere';
  });
  const handler = app.callback();
  const server = createServer((req, res) => void handler(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('the router of the dashboard', () => {
  let acme: OpenaiGateway;
  let server: Server;
  let url: string;
  const get = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { redirect: 'manual', ...init });

  before(async () => {
    acme = await startOpenaiGateway();
    ({ server, url } = await serve(acme, 'https://ai.example.org'));
  });
  after(async () => {
    server.close();
    await acme.close();
  });

  it('answers at its own paths only', async () => {
    expect(await (await get('/')).text()).to.equal('<p>/ {}</p>');
    expect(await (await get('/items/a%20b')).text()).to.equal('<p>/items/:id {"id":"a b"}</p>');
    const other = await get('/elsewhere');
    expect(await other.text()).to.equal('elsewhere');
    expect(other.headers.get('content-security-policy')).to.equal(null);
  });

  const paths: [path: string, text: string][] = [
    ['/items/new', '/items/new {}'],
    ['/items/k%C3%A9', '/items/:id {"id":"ké"}'],
    ['/items/a%2Fb', '/items/:id {"id":"a/b"}'],
    ['/items/1/parts/a/b.css', '/items/:id/parts/*rest {"id":"1","rest":"a/b.css"}'],
  ];
  for (const [path, text] of paths) {
    it(`answers ${path} by the most specific route, with decoded parameters`, async () => {
      expect(await (await get(path)).text()).to.equal(`<p>${text}</p>`);
    });
  }

  for (const path of ['/items/', '/items/new/', '/ITEMS/new', '/items/1/else', '/__proto__/x']) {
    it(`leaves ${path} to other routes`, async () => {
      expect(await (await get(path)).text()).to.equal('elsewhere');
    });
  }

  it('answers HEAD as GET', async () => {
    expect(await get('/', { method: 'HEAD' })).to.include({ status: 200 });
  });

  it('sends the headers that keep a page to itself', async () => {
    const { headers } = await get('/');
    expect(headers.get('content-security-policy')).to.equal(
      "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data: blob:;" +
        "media-src 'self' blob: data:;connect-src 'self';form-action 'self';" +
        "frame-ancestors 'none';base-uri 'none'",
    );
    expect(headers.get('strict-transport-security')).to.equal('max-age=31536000');
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('x-frame-options')).to.equal('DENY');
    expect(headers.get('referrer-policy')).to.equal('same-origin');
    expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin');
    expect(headers.get('x-powered-by')).to.equal(null);
  });

  it('lets a page style itself inline only where its route says so', async () => {
    const { headers } = await get('/styled');
    expect(headers.get('content-security-policy'))
      .to.include("style-src 'self' 'unsafe-inline'")
      .and.include("script-src 'self';");
  });

  it('sends no HSTS for a plain http address', async () => {
    const plain = await serve(acme, 'http://127.0.0.1:8080');
    const { headers } = await fetch(plain.url);
    plain.server.close();
    expect(headers.get('strict-transport-security')).to.equal(null);
    expect(headers.get('content-security-policy')).not.to.include('upgrade-insecure-requests');
  });

  it('redirects to the sign-in without a session, and back afterwards', async () => {
    const answer = await get('/mine?by=day');
    expect(answer.status).to.equal(303);
    expect(answer.headers.get('location')).to.equal('/sign-in?return_to=%2Fmine%3Fby%3Dday');
    expect((await get('/mine', { method: 'POST' })).status).to.equal(401);
  });

  it('answers 401 without a session at the API, from any site', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await get('/api/mine', { method });
      expect(answer.status).to.equal(401);
      expect(await answer.json()).to.have.nested.property('error.code', 'sign_in_required');
    }
  });

  const writes: [headers: Record<string, string>, status: number][] = [
    [{ origin: 'https://ai.example.org' }, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{}, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'http://ai.example.org' }, 403],
    [{ origin: 'https://ai.example.org:8443' }, 403],
    [{ origin: 'https://ai.example.org.evil.example' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ referer: 'https://ai.example.org/' }, 403],
  ];
  for (const [headers, status] of writes) {
    it(`answers ${status} to a write with ${JSON.stringify(headers)}`, async () => {
      const answer = await get('/write', { method: 'POST', headers });
      expect(answer.status).to.equal(status);
    });
  }

  it('shows an error as a page without internals', async () => {
    const broken = await get('/broken');
    expect(broken.status).to.equal(500);
    expect(broken.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(broken.headers.get('content-security-policy')).to.be.a('string');
    expect(await broken.text())
      .to.include('request-1')
      .and.not.include('innards');
    const refused = await get('/refused');
    expect(refused.status).to.equal(429);
    expect(await refused.text()).to.include('Wait &amp; &lt;see>.');
  });

  it('answers an error of the API in the one shape', async () => {
    const broken = await get('/api/broken');
    expect(broken.status).to.equal(500);
    expect(broken.headers.get('cache-control')).to.equal('no-store');
    expect(await broken.json()).to.have.nested.property('error.code', 'internal_error');
  });

  it('answers 405 with the methods of the path', async () => {
    const answer = await get('/', { method: 'POST' });
    expect(answer.status).to.equal(405);
    expect(answer.headers.get('allow')).to.equal('HEAD, GET');
    const api = await get('/api/mine', { method: 'PUT' });
    expect(api.headers.get('allow')).to.equal('HEAD, GET, DELETE');
    expect(await api.json()).to.have.nested.property('error.code', 'method_not_allowed');
  });
});
