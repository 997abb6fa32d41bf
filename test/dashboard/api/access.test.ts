import { expect } from 'chai';
import { codeIn, tableOf } from '../../helpers/documents.js';
import { onEachApiGateway, PUBLIC_URL, type Client, type Reply } from './helpers/api-gateway.js';

interface Described {
  method: string;
  path: string;
  operator: boolean;
}

/** The route that takes an API key, and nothing else. */
const KEY_ROUTE = '/api/key';

const CROSS_SITE: Record<string, string>[] = [
  {},
  { origin: 'null' },
  { origin: 'https://evil.example' },
  { origin: `${PUBLIC_URL}.evil.example` },
  { origin: 'http://ai.example.org' },
  { origin: 'https://evil.example', host: 'evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'none' },
];

onEachApiGateway('every route of the management API', {}, (here) => {
  let all: Described[];
  beforeEach(async () => {
    const { json } = await here.house.stranger.get('/openapi.json');
    const { paths } = json as { paths: Record<string, Record<string, { tags: string[] }>> };
    all = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { tags }]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/gu, 'x'),
        operator: tags.includes('Operators'),
      })),
    );
    all = all.filter(({ path }) => path.startsWith('/api/'));
  });

  const ask = (client: Client, { method, path }: Described, headers?: object): Promise<Reply> =>
    method === 'GET' ? client.get(path) : client.send(method, path, {}, headers);

  it('is one of those that are meant to be', () => {
    expect(all.map(({ method, path }) => `${method} ${path}`)).to.have.members([
      'GET /api/account',
      'GET /api/key',
      'GET /api/usage',
      'GET /api/ledger',
      'GET /api/keys',
      'POST /api/keys',
      'PATCH /api/keys/x',
      'DELETE /api/keys/x',
      'POST /api/keys/x/rotate',
      'GET /api/accounts',
      'POST /api/accounts',
      'GET /api/accounts/x',
      'PATCH /api/accounts/x',
      'POST /api/accounts/x/credit',
      'POST /api/accounts/x/refunds',
      'POST /api/accounts/x/suspend',
      'POST /api/accounts/x/resume',
      'POST /api/accounts/x/sign-in-link',
      'GET /api/accounts/x/keys',
      'POST /api/accounts/x/keys',
      'PATCH /api/accounts/x/keys/x',
      'DELETE /api/accounts/x/keys/x',
      'POST /api/accounts/x/keys/x/rotate',
      'GET /api/accounts/x/ledger',
      'GET /api/accounts/x/usage',
      'GET /api/profit',
      'GET /api/requests',
      'GET /api/requests/x',
      'GET /api/audit',
      'GET /api/tasks',
      'GET /api/boxes',
      'GET /api/providers',
      'POST /api/providers/x/resume',
      'GET /api/configuration',
    ]);
  });

  it('is in the table of docs/api.md, and nothing else is', () => {
    const { rows } = tableOf('docs/api.md', 'path', '/api/account');
    const told = rows.map(([cell]) => codeIn(cell).replaceAll(/\{\w+\}/gu, 'x'));
    expect(told).to.have.members([...new Set(all.map(({ path }) => path))]);
  });

  it('is closed to a stranger, and to who has an API key only', async () => {
    for (const route of all) {
      const reply = await ask(here.house.stranger, route);
      const code = route.path === KEY_ROUTE ? 'invalid_api_key' : 'sign_in_required';
      expect(reply.refusal(), route.path).to.deep.equal([401, code, null]);
    }
    const headers = { authorization: `Bearer ${here.house.secret}` };
    expect((await fetch(`${here.house.url}/api/account`, { headers })).status).to.equal(401);
  });

  it('is closed to visitors where it is for operators', async () => {
    const ann = await here.house.signIn('ann');
    for (const route of all.filter(({ operator }) => operator)) {
      expect((await ask(ann, route)).refusal(), route.path).to.deep.equal([403, 'forbidden', null]);
    }
  });

  it('refuses a write that another site has sent', async () => {
    const boss = await here.house.signIn('boss', { operator: true });
    for (const route of all.filter(({ method }) => method !== 'GET')) {
      for (const headers of CROSS_SITE) {
        const reply = await ask(boss, route, headers);
        const what = `${route.path} ${JSON.stringify(headers)}`;
        expect(reply.refusal(), what).to.deep.equal([403, 'forbidden', null]);
      }
    }
  });

  it('takes a write of its own site, by either sign', async () => {
    const ann = await here.house.signIn('ann');
    for (const headers of [{ origin: PUBLIC_URL }, { 'sec-fetch-site': 'same-origin' }]) {
      const reply = await ann.send('POST', '/api/keys', { name: 'laptop' }, headers);
      expect(reply.status).to.equal(201);
    }
  });

  it('is never kept by a cache', async () => {
    const boss = await here.house.signIn('boss', { operator: true });
    for (const route of all.filter(({ method, path }) => method === 'GET' && path !== KEY_ROUTE)) {
      const path = route.path.replace('accounts/x', `accounts/${boss.account_id}`);
      const { status, headers } = await ask(boss, { ...route, path });
      const wanted = route.path.endsWith('requests/x') ? 404 : 200;
      expect([status, headers.get('cache-control')], route.path).to.deep.equal([
        wanted,
        'no-store',
      ]);
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/u);
    }
  });
});
