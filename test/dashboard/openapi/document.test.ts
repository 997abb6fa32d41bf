import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { ERRORS } from '../../../src/core/errors.js';
import { SCOPE_NAMES } from '../../../src/core/scopes.js';
import { ask, chat } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { Promises } from '../../helpers/promises.js';
import { recordAt } from '../../store/requests/helpers.js';

interface Operation {
  operationId: string;
  security: object[];
  tags: string[];
  requestBody?: object;
  responses: Record<string, { content?: Record<string, object> }>;
}

interface Document {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, { description: string }> };
}

const YAML = `
public_url: https://ai.example.org
owners: { me: { name: Me } }
providers: { simulator: {} }
models:
  sim-chat: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
  sim-image: { owner: me, capabilities: [image], upstreams: [{ provider: simulator }], price: free }
  sim-video: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: free }
`;

/** An endpoint of the operator's own, on another path, with a stage of their own. */
const OWN = `endpoints:
  createKey: { at: 'POST /inner/chat/{tenant}', stages: [auth, validate: chat-completion, route: { capability: chat }, balance, transform: chat, meter] }
  hello: { at: GET /hello, stages: [./hello.mjs] }
`;
const HELLO = `export default {
  name: 'hello',
  shape: { needs: [], gives: ['reply'] },
  create: () => async (ctx, next) => { ctx.state.reply = { kind: 'document', body: {} }; await next(); },
};`;

async function documentOf({ url }: TestGateway): Promise<Document> {
  const answer = await fetch(`${url}/openapi.json`);
  expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
  return (await answer.json()) as Document;
}

async function expectValid(document: Document): Promise<void> {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(
    JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
  );
  expect(valid, JSON.stringify(errors, null, 1)).to.equal(true);
}

describe('the OpenAPI document', () => {
  let gateway: TestGateway;
  let document: Document;
  let promises: Promises;

  before(async () => {
    gateway = await startGateway(YAML);
    document = await documentOf(gateway);
    promises = new Promises(document);
  });
  after(() => gateway.close());

  const operations = (): [string, string, Operation][] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, one]) => [method, path, one] as [string, string, Operation],
      ),
    );

  /** Fails unless the answer is what the document promises for it. */
  function expectPromised(method: string, path: string, status: number, body: unknown): void {
    expect(document.paths[path]?.[method]?.responses, `${method} ${path}`).to.have.any.keys(
      String(status),
    );
    promises.hold(method, path, { status, type: 'application/json', text: JSON.stringify(body) });
  }

  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).to.equal('3.1.0');
    expect(document.servers).to.deep.equal([{ url: 'https://ai.example.org' }]);
    await expectValid(document);
  });

  it('leaves no reference open', () => {
    const text = JSON.stringify(document);
    const refs = new Set([...text.matchAll(/"\$ref":"#([^"]+)"/gu)].map(([, ref]) => ref));
    expect(refs.size).to.be.greaterThan(20);
    for (const ref of refs) {
      const steps = String(ref).slice(1).split('/');
      const found = steps.reduce<unknown>(
        (at, step) => (at as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/')],
        document,
      );
      expect(found, ref).to.be.an('object');
    }
    expect(text).not.to.match(/"\$(id|schema)"/u);
  });

  it('describes every endpoint of the file, each under a name of its own', () => {
    const described = operations().map(([method, path]) => `${method.toUpperCase()} ${path}`);
    const { endpoints } = gateway.gateway.configuration;
    expect(endpoints.length).to.be.greaterThan(6);
    expect(described).to.include.members(endpoints.map(({ method, path }) => `${method} ${path}`));
    const ids = operations().map(([, , { operationId }]) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('describes the endpoint of hosted images as such, not as an own one', () => {
    expect(document.paths['/images/{id}']?.get?.responses).to.include.keys('200', '404');
  });

  it('names the parameters of each path', () => {
    for (const [, path, operation] of operations()) {
      const { parameters } = operation as unknown as { parameters: { name: string; in: string }[] };
      const named = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect(named, path).to.deep.equal([...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name));
    }
  });

  it('names the header of what may be repeated', () => {
    const repeatable = operations().flatMap(([method, path, operation]) => {
      const { parameters } = operation as unknown as { parameters: { name: string; in: string }[] };
      const named = parameters.some((one) => one.in === 'header');
      expect('409' in operation.responses, path).to.equal(named);
      return named ? [`${method} ${path}`] : [];
    });
    expect(repeatable).to.have.members([
      'post /v1/chat/completions',
      'post /openai/v1/chat/completions',
      'post /v1/messages',
      'post /v1/responses',
      'post /openai/v1/responses',
      'post /v1/responses/compact',
      'post /openai/v1/responses/compact',
      'post /v1beta/models/{model}:generateContent',
      'post /v1beta/models/{model}:streamGenerateContent',
      'post /v1/models/{model}:generateContent',
      'post /v1/models/{model}:streamGenerateContent',
      'post /v1/images/generations',
      'post /v1/images/edits',
      'post /openai/v1/images/generations',
      'post /openai/v1/images/edits',
      'post /v1/embeddings',
      'post /openai/v1/embeddings',
      'post /v1beta/models/{model}:embedContent',
      'post /v1/models/{model}:embedContent',
      'post /v1beta/models/{model}:batchEmbedContents',
      'post /v1/models/{model}:batchEmbedContents',
      'post /v1/completions',
      'post /openai/v1/completions',
      'post /v1/audio/speech',
      'post /openai/v1/audio/speech',
      'post /v1/moderations',
      'post /openai/v1/moderations',
      'post /v1/audio/transcriptions',
      'post /openai/v1/audio/transcriptions',
      'post /v1/audio/translations',
      'post /openai/v1/audio/translations',
      'post /v1/queue/{model}',
      'post /v1/videos',
      'post /openai/v1/videos',
    ]);
  });

  it('says what each asks for: a key, a session, a token with a scope, or nothing', () => {
    for (const [, path, { security, tags }] of operations()) {
      const own = [
        ...(path === '/api/key' ? [] : [{ session: [] }]),
        ...(path.startsWith('/api/requests') ? [{ token: ['requests:read'] }] : []),
        ...(/^\/api\/(?:requests|usage|key$)/u.test(path) ? [{ key: [] }] : []),
      ];
      const wanted = path.startsWith('/api/') ? own : [{ key: [] }];
      if (tags.includes('Operators')) {
        expect(security, path).to.have.length(2);
        const { token = [] } = security[1] as { token?: string[] };
        expect(SCOPE_NAMES, path).to.include(token[0]);
        expect(security, path).to.deep.equal([{ session: [] }, { token: [token[0]] }]);
        continue;
      }
      expect(security, path).to.deep.equal(path.startsWith('/images/') ? [] : wanted);
    }
  });

  it('names every code of an error', () => {
    const told = Object.values(document.components.responses).map(({ description }) => description);
    for (const code of Object.keys(ERRORS)) expect(told.join()).to.include(`\`${code}\``);
  });

  it('keeps its promises for chat and for its errors', async () => {
    const body = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] };
    const path = '/v1/chat/completions';
    const good = await chat(gateway, body);
    expectPromised('post', path, good.status, JSON.parse(good.text));
    for (const [wrong, headers, status] of [
      [{ model: 'sim-chat' }, {}, 400],
      [body, { authorization: 'Bearer tg-wrong' }, 401],
    ] as const) {
      const { text, status: got } = await chat(gateway, wrong, headers);
      expect(got).to.equal(status);
      expectPromised('post', path, status, JSON.parse(text));
    }
  });

  it('keeps its promises for images, videos and models', async () => {
    const json = { 'content-type': 'application/json' };
    const post = (path: string, body: object) =>
      ask(gateway, path, { method: 'POST', headers: json, body: JSON.stringify(body) });
    const image = await post('/v1/images/generations', { model: 'sim-image', prompt: 'A tree' });
    expectPromised('post', '/v1/images/generations', image.status, JSON.parse(image.text));
    const submitted = await post('/v1/queue/sim-video', { prompt: 'A tree' });
    const task = JSON.parse(submitted.text) as { status_url: string; response_url: string };
    expectPromised('post', '/v1/queue/{model}', submitted.status, task);
    const at = '/v1/queue/{model}/requests/{requestID}';
    for (const [path, url] of [
      [`${at}/status`, task.status_url],
      [at, task.response_url],
    ] as const) {
      const { status, text } = await ask(gateway, url);
      expectPromised('get', path, status, JSON.parse(text));
    }
    const video = await post('/v1/videos', { model: 'sim-video', prompt: 'A tree' });
    expectPromised('post', '/v1/videos', video.status, JSON.parse(video.text));
    const { id } = JSON.parse(video.text) as { id: string };
    for (const [path, url] of [
      ['/v1/videos', '/openai/v1/videos?limit=1'],
      ['/v1/videos/{videoID}', `/v1/videos/${id}`],
      ['/openai/v1/videos/{videoID}', '/openai/v1/videos/video_none'],
      ['/v1/models', '/v1/models'],
    ] as const) {
      const { status, text } = await ask(gateway, url);
      expectPromised('get', path, status, JSON.parse(text));
    }
  });

  it('names the parameters of the query of who reads some', () => {
    const list = document.paths['/v1/videos']?.get as unknown as { parameters: object[] };
    expect(list.parameters.map((one) => ({ ...one, description: '' }))).to.deep.include({
      name: 'order',
      in: 'query',
      description: '',
      schema: { enum: ['asc', 'desc'] },
    });
  });

  it('keeps its promises for the management API', async () => {
    const { store } = gateway.gateway;
    const session = await store.sign_in.createSession({
      account_id: gateway.account.id,
      email: null,
      via: 'link',
      operator: true,
    });
    const headers = {
      cookie: `session=${session}`,
      origin: 'https://ai.example.org',
      'content-type': 'application/json',
    };
    const call = { account_id: gateway.account.id, key_id: gateway.key_id };
    const record = recordAt(Date.now(), call);
    await store.requests.add([record]);
    for (const [method, path] of operations().filter(([, one]) => one.startsWith('/api/'))) {
      if (method !== 'get') continue;
      const own = path.replace('{accountID}', gateway.account.id).replace('{requestID}', record.id);
      const authorization = `Bearer ${gateway.secret}`;
      const answer = await fetch(gateway.url + own, {
        headers: path === '/api/key' ? { authorization } : headers,
      });
      expect(answer.status, path).to.equal(200);
      expectPromised(method, path, 200, await answer.json());
    }
    for (const [path, body, status] of [
      ['/api/keys', { name: 'k', models: ['sim-chat'], limit: '1', expires_in_s: 60 }, 201],
      ['/api/keys', { name: '' }, 400],
      ['/api/accounts', { name: 'new', credit: '1.5' }, 201],
    ] as const) {
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const answer = await fetch(gateway.url + path, init);
      expect(answer.status, path).to.equal(status);
      expectPromised('post', path, status, await answer.json());
    }
  });

  it('keeps its promises for changes of an account', async () => {
    const { store } = gateway.gateway;
    const { id } = await store.createAccount('shopper', 0n);
    const { secret } = await store.tokens.create({ name: 'shop', scopes: SCOPE_NAMES });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    await store.credit(id, 100n, 'c');
    const charge = { model: 'm', provider: 'p', key_id: 'k', estimated: false, usage: '{}' };
    await store.charge({ ...charge, request_id: 'r1', account_id: id, cost_nano: 9n });
    for (const [path, body, status] of [
      ['credit', { amount: '1', reference: 'r' }, 200],
      ['credit', { amount: '1' }, 400],
      ['refunds', { request_id: 'r1' }, 200],
      ['refunds', { request_id: 'r2' }, 404],
      ['keys', { name: 'k' }, 201],
      ['suspend', {}, 200],
      ['keys', { name: 'k' }, 403],
      ['resume', {}, 200],
      ['sign-in-link', {}, 201],
    ] as const) {
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const answer = await fetch(`${gateway.url}/api/accounts/${id}/${path}`, init);
      expect(answer.status, path).to.equal(status);
      expectPromised('post', `/api/accounts/{accountID}/${path}`, status, await answer.json());
    }
  });

  it('describes endpoints of the operator’s own, where they are and what they take', async () => {
    const own = await startGateway(YAML + OWN, { files: { 'hello.mjs': HELLO } });
    try {
      const other = await documentOf(own);
      await expectValid(other);
      const inner = other.paths['/inner/chat/{tenant}']?.post;
      expect(inner?.operationId).to.equal('createKeyEndpoint');
      expect(inner?.requestBody).to.be.an('object');
      expect(other.paths['/hello']?.get).to.include({ operationId: 'hello' });
      expect(other.paths['/hello']?.get?.security).to.deep.equal([]);
      expect(other.paths['/v1/chat/completions']?.post).to.include({ operationId: 'chat' });
    } finally {
      await own.close();
    }
  });
});
