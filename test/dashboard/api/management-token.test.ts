import { expect } from 'chai';
import type { Scope } from '../../../src/core/scopes.js';
import { onEachApiGateway, PUBLIC_URL, type Here } from './helpers/api-gateway.js';

interface Described {
  method: string;
  path: string;
  scope: Scope | undefined;
}

interface Answer {
  status: number;
  code: string | undefined;
  message: string | undefined;
}

onEachApiGateway('a management token', { yaml: 'limits: { failed_keys: 3 }\n' }, (here) => {
  let all: Described[];
  beforeEach(async () => {
    const { json } = await here.house.stranger.get('/openapi.json');
    all = routesIn(json);
  });

  const ask = (secret: string, method: string, path: string, headers = {}): Promise<Answer> =>
    askAs(here, secret, method, path, headers);

  async function token(...scopes: Scope[]): Promise<string> {
    const { tokens } = here.house.gateway.store;
    return (await tokens.create({ name: 'shop', scopes })).secret;
  }

  it('enters each route by the scope that its description names, and no other', async () => {
    expect(all.filter(({ scope }) => scope !== undefined)).to.have.length(25);
    const secrets = new Map<Scope, string>();
    for (const { scope } of all) if (scope) secrets.set(scope, await token(scope));
    for (const { method, path, scope } of all) {
      for (const [held, secret] of secrets) {
        const { status, code, message } = await ask(secret, method, path);
        const what = `${method} ${path} with ${held}`;
        if (held === scope) {
          expect(status, what).not.to.be.oneOf([401, 403, 500]);
        } else if (scope === undefined) {
          expect([status, code], what).to.deep.equal([403, 'forbidden']);
          expect(message, what).to.include('no account of its own');
        } else {
          expect([status, code], what).to.deep.equal([403, 'forbidden']);
          expect(message, what).to.equal(`The token "shop" lacks the scope ${scope}.`);
        }
      }
    }
  });

  it('needs no Origin, is not weighed against another, and outranks a session', async () => {
    const secret = await token('accounts:write');
    const boss = await here.house.signIn('boss', { operator: true });
    const path = `/api/accounts/${boss.account_id}/suspend`;
    for (const headers of [{}, { origin: 'https://evil.example' }, { origin: PUBLIC_URL }]) {
      expect((await ask(secret, 'POST', path, headers)).status).to.equal(200);
    }
    const authorization = `Bearer ${await token('accounts:read')}`;
    const reply = await boss.send('POST', path, {}, { authorization, origin: PUBLIC_URL });
    expect(reply.refusal()).to.deep.equal([403, 'forbidden', null]);
  });

  it('opens no page, and no endpoint for models', async () => {
    const secret = await token('accounts:read', 'gateway:read');
    const headers = { authorization: `Bearer ${secret}` };
    const page = await fetch(`${here.house.url}/operator/accounts`, {
      headers,
      redirect: 'manual',
    });
    expect(page.status).to.equal(303);
    expect((await ask(secret, 'GET', '/v1/models')).code).to.equal('invalid_api_key');
  });

  it('cannot credit by making an account', async () => {
    const maker = await token('accounts:write');
    const make = async (secret: string, body: object): Promise<number> => {
      const answer = await fetch(`${here.house.url}/api/accounts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return answer.status;
    };
    expect(await make(maker, { name: 'rich', credit: '5' })).to.equal(403);
    expect(await make(maker, { name: 'poor one', credit: '0' })).to.equal(201);
    const both = await token('accounts:write', 'credit:write');
    expect(await make(both, { name: 'rich', credit: '5' })).to.equal(201);
  });

  it('that is wrong is 401, and soon 429; a revoked one stays 401', async () => {
    const { tokens } = here.house.gateway.store;
    const { token: old, secret } = await tokens.create({ name: 'old', scopes: ['audit:read'] });
    expect((await ask(secret, 'GET', '/api/audit')).status).to.equal(200);
    await tokens.revoke(old.id);
    for (let at = 0; at < 6; at++) {
      const { status, code } = await ask(secret, 'GET', '/api/audit');
      expect([status, code]).to.deep.equal([401, 'invalid_token']);
    }
    const statuses: number[] = [];
    for (let at = 0; at < 4; at++) {
      statuses.push((await ask(`tgm_guess${at}`, 'GET', '/api/audit')).status);
    }
    expect(statuses).to.deep.equal([401, 401, 401, 429]);
    // The guesses lock nobody out who has a token.
    expect((await ask(await token('audit:read'), 'GET', '/api/audit')).status).to.equal(200);
  });
});

function routesIn(document: unknown): Described[] {
  type Operation = { security: { token?: Scope[] }[] };
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { security }]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/gu, 'x'),
        scope: security.find(({ token }) => token)?.token?.[0],
      })),
    );
}

async function askAs(
  { house }: Here,
  secret: string,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const answer = await fetch(house.url + path, {
    method,
    headers: { authorization: `Bearer ${secret}`, ...headers },
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  const { error } = (isJson ? JSON.parse(text) : {}) as {
    error?: { code: string; message: string };
  };
  return { status: answer.status, code: error?.code, message: error?.message };
}
