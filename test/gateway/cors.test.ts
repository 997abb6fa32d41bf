import { expect } from 'chai';
import { ask, type Answer } from '../helpers/ask.js';
import { describeInBrowser, visit } from '../helpers/browser.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { startUpstream, type FakeUpstream } from '../helpers/upstream.js';

const CHAT = '/v1/chat/completions';
const HELLO = { model: 'acme-chat', messages: [{ role: 'user', content: 'Hello!' }] };
const APP = 'https://app.example.com';

/** The headers of an answer that a browser reads, without those of every answer. */
function shared({ headers }: Pick<Answer, 'headers'>): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => /^(access-control|vary)/u.test(name)));
}

function preflightFrom(
  at: OpenaiGateway,
  origin: string,
  { path = CHAT, method = 'POST', headers = '' } = {},
): Promise<Answer> {
  const asked = { 'access-control-request-method': method };
  const named = headers && { 'access-control-request-headers': headers };
  return ask(at, path, {
    method: 'OPTIONS',
    headers: { authorization: '', origin, ...asked, ...(named !== '' && named) },
  });
}

describe('calls from pages of other origins', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({ yaml: `cors: [${APP}, http://localhost:5173]` });
  });
  after(() => acme.close());

  it('are allowed before they are made, with the headers that SDKs send', async () => {
    const sent =
      'authorization, content-type, x-api-key, x-goog-api-key, x-goog-api-client, ' +
      'anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access, ' +
      'openai-organization, idempotency-key, x-stainless-arch, x-stainless-retry-count';
    const answer = await preflightFrom(acme, APP, { headers: `${sent}, x-forwarded-for` });
    expect(answer.status).to.equal(204);
    expect(shared(answer)).to.deep.equal({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': sent,
      'access-control-max-age': '7200',
      vary: 'origin, access-control-request-headers',
    });
  });

  it('may be of any method that the path takes, and of no other', async () => {
    const task = '/v1/queue/acme/film/requests/1';
    for (const [path, method, methods] of [
      [task, 'GET', 'HEAD, GET'],
      [`${task}/cancel`, 'PUT', 'PUT'],
      ['/v1/models', 'GET', 'HEAD, GET'],
      ['/v1beta/models/acme-chat:generateContent', 'POST', 'POST'],
    ] as const) {
      const { status, headers } = await preflightFrom(acme, APP, { path, method });
      expect([path, status]).to.deep.equal([path, 204]);
      expect(headers.get('access-control-allow-methods')?.split(', ')).to.include.members(
        methods.split(', '),
      );
    }
    expect((await preflightFrom(acme, APP, { method: 'DELETE' })).status).to.equal(405);
  });

  it('may read the answer, its id and what was ignored', async () => {
    const json = { 'content-type': 'application/json', origin: 'http://localhost:5173' };
    const body = JSON.stringify({ ...HELLO, wish: 'x' });
    const answer = await ask(acme, CHAT, { method: 'POST', headers: json, body });
    expect(answer.status).to.equal(200);
    const { vary, ...rest } = shared(answer);
    expect(vary).to.match(/\borigin\b/u);
    expect(rest['access-control-allow-origin']).to.equal('http://localhost:5173');
    expect(rest['access-control-expose-headers']).to.match(/x-request-id.*tollgate-ignored/u);
    expect(Object.keys(rest)).to.have.length(2);
  });

  it('may read streams and refusals', async () => {
    const post = (body: object, authorization?: string) =>
      ask(acme, CHAT, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          origin: APP,
          ...(authorization && { authorization }),
        },
        body: JSON.stringify(body),
      });
    const stream = await post({ ...HELLO, stream: true });
    expect(stream.text).to.match(/\[DONE\]\n\n$/u);
    for (const answer of [stream, await post({}), await post(HELLO, 'Bearer tg-not-a-key')]) {
      expect(answer.headers.get('access-control-allow-origin')).to.equal(APP);
    }
  });

  for (const origin of ['https://evil.example', 'null', `${APP}.evil.example`, `${APP}:8443`]) {
    it(`are not shared with ${origin}`, async () => {
      const before = await preflightFrom(acme, origin);
      expect(before.status).to.equal(405);
      expect(shared(before)).to.deep.equal({ vary: 'origin' });
      const answer = await ask(acme, '/v1/models', { headers: { origin } });
      expect(shared(answer)).to.deep.equal({ vary: 'origin' });
    });
  }

  for (const path of ['/api/account', '/api/keys', '/keys', '/', '/sign-in', '/healthz']) {
    it(`never reach ${path}`, async () => {
      const before = await preflightFrom(acme, APP, { path, method: 'GET' });
      expect(before.status).to.be.at.least(400);
      const answer = await ask(acme, path, { headers: { origin: APP }, redirect: 'manual' });
      for (const { headers } of [before, answer]) {
        expect([...headers.keys()].join(' ')).not.to.include('access-control');
      }
    });
  }

  it('never carry cookies', async () => {
    const answers = [
      await preflightFrom(acme, APP),
      await ask(acme, '/v1/models', { headers: { origin: APP, cookie: 'session=x' } }),
    ];
    for (const { headers } of answers) {
      expect(headers.has('access-control-allow-credentials')).to.equal(false);
    }
  });
});

describe('calls from pages of any origin', () => {
  it('are allowed where the file says so', async () => {
    const acme = await startOpenaiGateway({ yaml: "cors: ['*']" });
    try {
      for (const origin of [APP, 'null']) {
        const { status, headers } = await preflightFrom(acme, origin);
        expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([204, '*']);
      }
      const answer = await ask(acme, '/v1/models', { headers: { origin: APP } });
      expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
    } finally {
      await acme.close();
    }
  });

  it('are not allowed where it says nothing', async () => {
    const acme = await startOpenaiGateway();
    try {
      expect((await preflightFrom(acme, APP)).status).to.equal(405);
      expect(shared(await ask(acme, '/v1/models', { headers: { origin: APP } }))).to.deep.equal({});
    } finally {
      await acme.close();
    }
  });
});

describeInBrowser('a page of another origin in a real browser', (browser) => {
  let page_server: FakeUpstream;
  let acme: OpenaiGateway;
  before(async () => {
    page_server = await startUpstream((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>App</title>');
    });
    acme = await startOpenaiGateway({ yaml: `cors: ['${page_server.url}']` });
  });
  after(async () => {
    await acme.close();
    await page_server.close();
  });

  /** What a page's own script gets of a call: status, request id and text, or the error's name. */
  const call = `async ([url, init]) => {
    try {
      const answer = await fetch(url, init);
      return [answer.status, answer.headers.get('x-request-id')?.length, await answer.text()];
    } catch (error) { return [error.name]; }
  }`;

  it('streams a chat with its key, and gets nothing of the dashboard', async () => {
    const { page, context } = await visit(browser(), page_server.url);
    await page.goto('/');
    const run = (path: string, init: object): Promise<unknown[]> =>
      page.evaluate(`(${call})(${JSON.stringify([acme.url + path, init])})`);
    const headers = {
      authorization: `Bearer ${acme.secret}`,
      'content-type': 'application/json',
      'x-stainless-lang': 'js',
    };
    const body = JSON.stringify({ ...HELLO, stream: true });
    const [status, id_length, text] = await run(CHAT, { method: 'POST', headers, body });
    expect([status, id_length]).to.deep.equal([200, 36]);
    expect(text).to.match(/\[DONE\]\n\n$/u);
    expect(await run('/v1/models', {})).to.include(401);
    const credentials = 'include';
    expect(await run('/v1/models', { headers, credentials })).to.deep.equal(['TypeError']);
    expect(await run('/api/account', { credentials })).to.deep.equal(['TypeError']);
    await context.close();
  });
});
