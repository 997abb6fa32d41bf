import { expect } from 'chai';
import type { ChangeShape } from '../../../src/actions/audit-list.js';
import type { AccountShape, EntryShape, KeyShape } from '../../../src/actions/shapes.js';
import { chat } from '../../helpers/ask.js';
import { expectAnswer } from './helpers/answers.js';
import { onEachApiGateway } from './helpers/api-gateway.js';

interface Credited {
  entry: EntryShape;
  account: AccountShape;
}

interface Reply {
  status: number;
  json: unknown;
}

const HELLO = { model: 'acme-chat', messages: [{ role: 'user', content: 'Hello' }] };

onEachApiGateway('a shop that sells credit by a management token', {}, (here) => {
  let secret: string;
  let token_id: string;

  beforeEach(async () => {
    const made = await here.house.gateway.store.tokens.create({
      name: 'shop',
      scopes: [
        ...([
          'accounts:read',
          'accounts:write',
          'credit:write',
          'keys:read',
          'keys:write',
        ] as const),
        ...(['refunds:write', 'ledger:read', 'usage:read', 'audit:read'] as const),
        'sign-in-links:write',
      ],
    });
    secret = made.secret;
    token_id = made.token.id;
  });

  async function ask(method: string, path: string, body?: object): Promise<Reply> {
    const answer = await fetch(`${here.house.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** An answer that must be a `name` of `management-answers`. */
  async function get<T>(name: string, method: string, path: string, body?: object): Promise<T> {
    const { status, json } = await ask(method, path, body);
    expect(status, JSON.stringify(json)).to.be.within(200, 299);
    expectAnswer(name, json);
    return json as T;
  }

  async function refusal(method: string, path: string, body?: object): Promise<unknown[]> {
    const { status, json } = await ask(method, path, body);
    const { error } = json as { error: { code: string; param: string | null } };
    return [status, error.code, error.param];
  }

  const call = async (key: string): Promise<{ status: number; id: string; text: string }> => {
    const { status, headers, text } = await chat({ url: here.house.url, secret: key }, HELLO);
    return { status, id: headers.get('x-request-id') ?? '', text };
  };

  it('sells credit, makes a key, refunds a call, suspends and resumes', async () => {
    const account = await get<AccountShape>('Account', 'POST', '/accounts', { name: 'customer' });
    const at = `/accounts/${account.id}`;
    const order = { amount: '5.00', reference: 'order 1' };
    const paid = await get<Credited>('Credited', 'POST', `${at}/credit`, order);
    expect(paid.account.balance).to.equal('5.00');
    expect(await get('Credited', 'POST', `${at}/credit`, order)).to.deep.equal(paid);

    const terms = { name: 'laptop', limit: '2.00', models: ['acme-chat'], expires_in_s: 3_600 };
    const key = await get<KeyShape & { secret: string }>('NewKey', 'POST', `${at}/keys`, terms);
    expect(key).to.include({ name: 'laptop', limit: '2.00' });
    const called = await call(key.secret);
    expect(called.status, called.text).to.equal(200);
    const charges = await get<{ data: EntryShape[] }>(
      'Ledger',
      'GET',
      `${at}/ledger?reference=${called.id}`,
    );
    const [charge] = charges.data;
    expect(charge?.kind).to.equal('charge');

    const half = { request_id: called.id, amount: '0.000000001', reference: 'complaint' };
    const first = await get<Credited>('Credited', 'POST', `${at}/refunds`, half);
    expect(first.entry).to.include({ kind: 'refund', refund_of: called.id, model: 'acme-chat' });
    expect(await get('Credited', 'POST', `${at}/refunds`, half)).to.deep.equal(first);
    const rest = { request_id: called.id };
    const last = await get<Credited>('Credited', 'POST', `${at}/refunds`, rest);
    expect(last.account.balance).to.equal('5.00');
    const over = { request_id: called.id, amount: '1', reference: 'more' };
    expect(await refusal('POST', `${at}/refunds`, over)).to.deep.equal([
      400,
      'invalid_request',
      'amount',
    ]);
    expect(await refusal('POST', `${at}/refunds`, { request_id: 'none' })).to.deep.equal([
      404,
      'not_found',
      null,
    ]);

    const suspended = await get<AccountShape>('Account', 'POST', `${at}/suspend`);
    expect(suspended.suspended).to.equal(new Date(here.ground.now_ms).toISOString());
    const refused = await call(key.secret);
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('account_suspended');
    expect(await refusal('POST', `${at}/keys`, { name: 'phone' })).to.deep.equal([
      403,
      'account_suspended',
      null,
    ]);
    await get('Account', 'POST', `${at}/resume`);
    expect((await call(key.secret)).status).to.equal(200);

    expect((await ask('DELETE', `${at}/keys/${key.id}`)).status).to.equal(204);
    expect((await call(key.secret)).status).to.equal(401);
    expect((await here.house.gateway.store.verify()).faults).to.deep.equal([]);
  });

  it('finds all that it did in the audit log, with its token and requests', async () => {
    const { id } = await get<AccountShape>('Account', 'POST', '/accounts', { name: 'customer' });
    await get('Credited', 'POST', `/accounts/${id}/credit`, { amount: '1', reference: 'o' });
    await get('Account', 'POST', `/accounts/${id}/suspend`);
    const link = await get<{ url: string }>('SignInLink', 'POST', `/accounts/${id}/sign-in-link`);
    expect(link.url).to.match(/^https:\/\/ai\.example\.org\/sign-in\/link\?token=[\w-]{43}$/u);
    const seen: ChangeShape[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { data: ChangeShape[]; next_cursor: string | null } = await get(
        'AuditPage',
        'GET',
        `/audit?limit=1&account=${id}&cursor=${cursor}`,
      );
      seen.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(seen.map(({ action }) => action)).to.deep.equal([
      'sign_in_link.create',
      'account.suspend',
      'account.credit',
      'account.create',
    ]);
    for (const { actor, request_id, account } of seen) {
      expect(actor).to.deep.equal({ kind: 'token', id: token_id, name: 'shop' });
      expect(request_id).to.match(/^[0-9a-f-]{36}$/u);
      expect(account).to.equal(id);
    }
    const later = new Date(here.ground.now_ms + 1).toISOString();
    expect(await get('AuditPage', 'GET', `/audit?since=${later}`)).to.deep.equal({
      data: [],
      next_cursor: null,
    });
    expect(await refusal('GET', '/audit?since=2026-13-77T00:00Z')).to.deep.equal([
      400,
      'invalid_request',
      'since',
    ]);
  });

  it('reads accounts and usage', async () => {
    const { id } = await get<AccountShape>('Account', 'POST', '/accounts', { name: 'customer' });
    expect(await get<AccountShape>('Account', 'GET', `/accounts/${id}`)).to.include({ id });
    await get('Usage', 'GET', `/accounts/${id}/usage?by=key`);
    await get('KeyList', 'GET', `/accounts/${id}/keys`);
    for (const path of ['', '/ledger', '/usage', '/keys']) {
      expect(await refusal('GET', `/accounts/customer${path}`)).to.deep.equal([
        404,
        'not_found',
        null,
      ]);
    }
  });

  it('is told of the suspension of an account whose answer runs, which is charged', async () => {
    const { store } = here.house.gateway;
    const { account, key_id, secret: own } = here.house;
    const held = await store.hold('running', account.id, 50n, key_id);
    expect(held.admitted).to.equal(true);
    await get('Account', 'POST', `/accounts/${account.id}/suspend`);
    expect((await call(own)).status).to.equal(403);
    const free = await chat({ url: here.house.url, secret: own }, { ...HELLO, model: 'acme-free' });
    expect(free.status).to.equal(403);
    const charge = { model: 'm', provider: 'p', estimated: false, usage: '{}', cost_nano: 40n };
    const ids = { request_id: 'running', account_id: account.id, key_id };
    expect(await store.charge({ ...ids, ...charge })).to.deep.equal({ uncollected_nano: 0n });
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});
