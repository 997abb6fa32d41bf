import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { ask, chat, completionOf, errorOf } from '../helpers/ask.js';
import { expectShape } from '../helpers/schemas.js';
import { rawClient, rawPost } from '../helpers/raw-client.js';
import { requestId } from '../../src/gateway/router.js';

const CHAT = '/v1/chat/completions';
const sound = { model: 'acme-chat', messages: [{ role: 'user', content: 'Hello!' }] };

describe('the router of the gateway', () => {
  let acme: OpenaiGateway;

  before(async () => {
    acme = await startOpenaiGateway({
      yaml: `endpoints:
  chat: { at: "POST /v1/chat/completions", stages: [auth, validate: chat-completion, route: { capability: chat }, balance, transform: chat, meter] }
  models: { at: "GET /v1/models", stages: [auth, models] }
  slashes: { at: "GET /v1/{model}/list/{page}", stages: [auth, models] }
  mute: { at: "GET /v1/mute", stages: [auth] }
  muffled: { at: "GET /v1/{model}/muffled", stages: [auth] }
`,
    });
  });
  after(() => acme.close());

  const misses: { method: string; path: string; status: number; allow?: string[] }[] = [
    { method: 'GET', path: '/nothing', status: 404 },
    { method: 'GET', path: '/v1', status: 404 },
    { method: 'POST', path: '/v1/chat', status: 404 },
    { method: 'POST', path: '/v1/completion', status: 404 },
    { method: 'GET', path: '/V1/tasks/x', status: 404 },
    { method: 'GET', path: '/v1/list/1', status: 404 },
    { method: 'GET', path: '/v1/a/list/1/2', status: 404 },
    { method: 'GET', path: '/v1/%zz', status: 404 },
    { method: 'GET', path: '//v1//models', status: 404 },
    { method: 'GET', path: '/../../etc/passwd', status: 404 },
    { method: 'GET', path: CHAT, status: 405, allow: ['POST'] },
    { method: 'PUT', path: CHAT, status: 405, allow: ['POST'] },
    { method: 'OPTIONS', path: CHAT, status: 405, allow: ['POST'] },
    { method: 'POST', path: '/v1/models', status: 405, allow: ['GET', 'HEAD'] },
    { method: 'DELETE', path: '/v1/models?x=1', status: 405, allow: ['GET', 'HEAD'] },
    { method: 'POST', path: '/healthz', status: 405, allow: ['GET', 'HEAD'] },
    { method: 'DELETE', path: '/readyz', status: 405, allow: ['GET', 'HEAD'] },
  ];
  for (const { method, path, status, allow } of misses) {
    it(`answers ${status} to ${method} ${path}`, async () => {
      const answer = await ask(acme, path, { method });
      expect(answer.status).to.equal(status);
      expect(errorOf(answer).code).to.equal(status === 404 ? 'not_found' : 'method_not_allowed');
      expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/u);
      const allowed = answer.headers.get('allow')?.split(', ').sort();
      expect(allowed).to.deep.equal(allow);
    });
  }

  for (const path of ['/v1/messages', '/healthz', '/nothing', '/v1/models']) {
    it(`says 426 to a WebSocket at ${path}, without a key, and goes on over HTTP`, async () => {
      const handshake =
        `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n` +
        'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
      const client = rawClient(acme.url, handshake);
      await client.until((text) => text.includes('over HTTP.'));
      expect(client.text).to.match(/^HTTP\/1\.1 426 Upgrade Required\r\n/u);
      expect(client.text).to.match(/\r\nupgrade: HTTP\/1\.1\r\nconnection: Upgrade\r\n/u);
      const [, body = ''] = client.text.split('\r\n\r\n');
      if (path === '/v1/messages') expect(body).to.match(/^\{"type":"error"/u);
      else expectShape('error', JSON.parse(body));
      client.socket.write(rawPost(JSON.stringify(sound), { secret: acme.secret }));
      await client.until((text) => text.includes('finish_reason'));
      client.socket.destroy();
    });
  }

  it('ignores an upgrade that no path takes', async () => {
    const body = JSON.stringify(sound);
    const headers = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n';
    const client = rawClient(acme.url, rawPost(body, { secret: acme.secret, headers }));
    await client.until((text) => text.includes('finish_reason'));
    client.socket.destroy();
  });

  it('answers HEAD like GET, without the body', async () => {
    const get = await ask(acme, '/v1/models');
    const head = await ask(acme, '/v1/models', { method: 'HEAD' });
    expect(head).to.include({ status: 200, text: '' });
    for (const name of ['content-type', 'content-length']) {
      expect(head.headers.get(name)).to.equal(get.headers.get(name));
    }
    expect((await ask(acme, '/nothing', { method: 'HEAD' })).status).to.equal(404);
  });

  it('answers with an error where no stage of an endpoint answers', async () => {
    for (const path of ['/v1/mute', '/v1/mute?x=1', '/v1/a/muffled']) {
      const answer = await ask(acme, path);
      expect(answer.status).to.equal(404);
      expect(errorOf(answer).code).to.equal('not_found');
    }
  });

  it('answers requests that come in one packet, in their order', async () => {
    const socket = connect(Number(new URL(acme.url).port), '127.0.0.1');
    const requests = [sound, { ...sound, stream: true }, { ...sound, model: 'none' }, sound].map(
      (asked, at) => {
        const body = JSON.stringify(asked);
        const last = at === 3 ? 'connection: close\r\n' : '';
        return `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${acme.secret}\r\n${last}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      },
    );
    let text = '';
    socket.setEncoding('utf8').on('data', (data: string) => (text += data));
    socket.write(requests.join(''));
    await once(socket, 'close');
    const answers = text.split('HTTP/1.1 ').slice(1);
    expect(answers.map((answer) => answer.slice(0, 3))).to.deep.equal(['200', '200', '400', '200']);
    expect(answers[1]).to.include('data: [DONE]\n\n\r\n0\r\n\r\n');
    for (const at of [0, 3]) {
      const body: unknown = JSON.parse(answers[at]?.split('\r\n\r\n')[1] ?? '');
      expectShape('chat-completion-response', body);
    }
  });

  it('ignores query strings and headers that it does not know', async () => {
    const stray = { 'x-anything': 'x', 'openai-beta': 'assistants=v2' };
    const answer = await ask(acme, `${CHAT}?api-version=2024-10-21&model=other`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...stray },
      body: JSON.stringify(sound),
    });
    expect(completionOf(answer).model).to.equal('acme-chat');
  });

  it('takes a model with slashes in a path, plain or encoded', async () => {
    for (const model of ['one', 'google/veo-3.1', 'a/b/c', 'google%2Fveo-3.1', 'a/list/b']) {
      expect((await ask(acme, `/v1/${model}/list/1`)).status, model).to.equal(200);
    }
  });

  it('keeps an idle connection for longer than a proxy in front would', async () => {
    for (const answer of [await ask(acme, '/v1/models'), await chat(acme, sound)]) {
      expect(answer.headers.get('keep-alive')).to.equal('timeout=150');
    }
  });

  it('gives every answer an id of its own', async () => {
    const answers = await Promise.all(
      ['/v1/models', '/nothing', '/healthz', '/readyz', '/v1/models'].map((path) =>
        ask(acme, path),
      ),
    );
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids)).to.have.property('size', 5);
    expect(ids).not.to.include(null);
  });

  const wrong = { authorization: 'Bearer tg-wrong' };
  const poor = (): object => ({ authorization: `Bearer ${acme.poor}` });
  const big = { ...sound, messages: 'x'.repeat(25_000_000) };
  const refusals: { what: string; headers: () => object; body: unknown; status: number }[] = [
    { what: 'a wrong key with a broken body', headers: () => wrong, body: '{', status: 401 },
    { what: 'a wrong key with a huge body', headers: () => wrong, body: big, status: 401 },
    { what: 'no money with a broken body', headers: poor, body: '{', status: 400 },
    {
      what: 'no money with an unknown model',
      headers: poor,
      body: { ...sound, model: 'x' },
      status: 400,
    },
    {
      what: 'no money with a broken upstream',
      headers: poor,
      body: { ...sound, model: 'acme-broken' },
      status: 402,
    },
    { what: 'no money', headers: poor, body: sound, status: 402 },
    { what: 'no money, streamed', headers: poor, body: { ...sound, stream: true }, status: 402 },
    {
      what: 'no money at a free model',
      headers: poor,
      body: { ...sound, model: 'acme-free' },
      status: 200,
    },
    {
      what: 'a broken upstream',
      headers: () => ({}),
      body: { ...sound, model: 'acme-broken' },
      status: 502,
    },
  ];
  for (const { what, headers, body, status } of refusals) {
    it(`answers ${status} to ${what}`, async () => {
      const answer = await chat(acme, body, { ...headers() });
      expect(answer.status, answer.text).to.equal(status);
      expect(answer.text).not.to.match(/Segmentation|sk-acme|node_modules|\.ts:/u);
    });
  }

  it('keeps the Retry-After of an upstream that failed', async () => {
    const answer = await chat(acme, { ...sound, model: 'acme-broken' });
    expect(answer.headers.get('retry-after')).to.equal('7');
  });

  const malformed: [string, string][] = [
    ['no HTTP at all', 'GARBAGE\r\n\r\n'],
    ['another protocol', '\u0016\u0003\u0001\u0002\u0000\u0001'],
    ['a header that is none', 'GET /v1/models HTTP/1.1\r\nHost: x\r\nno colon here\r\n\r\n'],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a method to connect', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
    ['no host', 'GET /nothing HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'an unknown expectation',
      'GET /nothing HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
    ],
    ['a path that is a star', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['a whole URL', 'GET http://x/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ];
  for (const [what, text] of malformed) {
    it(`answers ${what} in the one error shape`, async () => {
      const socket = connect(Number(new URL(acme.url).port), '127.0.0.1');
      let answer = '';
      socket.setEncoding('utf8').on('data', (data: string) => (answer += data));
      socket.write(text);
      await once(socket, 'close');
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head)
        .to.match(/^HTTP\/1\.1 4\d\d /u)
        .and.match(/\r\nx-request-id: [0-9a-f-]{36}/u);
      expectShape('error', JSON.parse(body));
    });
  }
});

describe('requestId', () => {
  it('is a UUID of version 7', () => {
    expect(requestId(1_795_224_526_000)).to.match(
      /^01a1fbb8-5cb0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u,
    );
  });

  it('sorts by time and never repeats', () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => requestId(1_700_000_000_000 + at * 7));
    expect([...ids].sort()).to.deep.equal(ids);
    expect(new Set(Array.from({ length: 1_000 }, () => requestId(0))).size).to.equal(1_000);
  });
});
