import { expect } from 'chai';
import type { Scope } from '../../../src/core/scopes.js';
import type { RequestShape } from '../../../src/actions/request-shapes.js';
import { recordAt } from '../../store/requests/helpers.js';
import { chargeOf, dollars } from '../../store/helpers/ground.js';
import { expectAnswer } from './helpers/answers.js';
import { onEachApiGateway, type Client } from './helpers/api-gateway.js';

interface Page {
  data: RequestShape[];
  next_cursor: string | null;
}

const MINUTE_MS = 60_000;
const NOW_MS = Date.parse('2026-11-20T10:00:00Z');

onEachApiGateway('the API of requests', {}, (here) => {
  let ann: Client;
  let boss: Client;
  let failed_id: string;

  beforeEach(async () => {
    here.ground.now_ms = NOW_MS;
    ann = await here.house.signIn('ann', { credit_nano: dollars(10) });
    boss = await here.house.signIn('boss', { operator: true });
    const own = { account_id: ann.account_id, key_id: 'key_ann' };
    const failure = recordAt(NOW_MS - 2 * MINUTE_MS, { ...own, status: 502, code: 'overloaded' });
    failed_id = failure.id;
    await here.house.gateway.store.requests.add([
      recordAt(NOW_MS - 4 * MINUTE_MS, { ...own, units: { images: 1 }, cost_nano: 40_000_000n }),
      recordAt(NOW_MS - 3 * MINUTE_MS, { ...own, streamed: true, first_token_ms: 12.5, flags: 1 }),
      failure,
      recordAt(NOW_MS - MINUTE_MS, { account_id: boss.account_id, key_id: 'key_boss' }),
    ]);
  });

  const list = async (who: Client, query = ''): Promise<Page> =>
    (await who.get(`/api/requests${query}`)).as<Page>('RequestPage');

  async function asToken(scope: Scope, path: string): Promise<{ status: number; json: unknown }> {
    const { secret } = await here.house.gateway.store.tokens.create({ name: 't', scopes: [scope] });
    const headers = { authorization: `Bearer ${secret}` };
    const answer = await fetch(here.house.url + path, { headers });
    return { status: answer.status, json: await answer.json() };
  }

  it('lists the own ones, newest first, without who the upstreams were', async () => {
    const { data, next_cursor } = await list(ann);
    expect(next_cursor).to.equal(null);
    expect(data.map(({ status }) => status)).to.deep.equal([502, 200, 200]);
    expect(data[2]).to.deep.include({
      cost: '0.04',
      units: { images: 1 },
      account: ann.account_id,
    });
    expect(data[1]).to.deep.include({ flags: ['estimated'], first_token_ms: 12.5 });
    expect(JSON.stringify(data)).not.to.include('openai');
    expect(data[0]?.attempts[0]).to.include({ took_ms: 80, began_ms: null });
  });

  it('goes on page by page, within the filter', async () => {
    const first = await list(ann, '?limit=2');
    expect(first.data).to.have.length(2);
    const rest = await list(ann, `?limit=2&cursor=${first.next_cursor}`);
    expect(rest).to.deep.include({ next_cursor: null });
    expect(rest.data[0]?.cost).to.equal('0.04');
    for (const [query, count] of [
      ['status=5xx', 1],
      ['status=failed', 1],
      ['status=200', 2],
      ['model=none', 0],
      ['key=key_boss', 0],
      ['from=2026-11-20T09:56:30.000Z', 2],
      ['from=2026-11-20T09:57&to=2026-11-20T09:58', 1],
    ] as const) {
      expect((await list(ann, `?${query}`)).data, query).to.have.length(count);
    }
    for (const [query, param] of [
      ['status=bad', 'status'],
      ['from=2026-02-30', 'from'],
      ['limit=201', 'limit'],
      ['cursor=x', 'cursor'],
    ] as const) {
      const refused = (await ann.get(`/api/requests?${query}`)).refusal();
      expect(refused, query).to.deep.equal([400, 'invalid_request', param]);
    }
  });

  it('shows one by the ID of its answer, and nobody those of others', async () => {
    const one = (await ann.get(`/api/requests/${failed_id}`)).as<RequestShape>('Request');
    expect(one).to.include({ id: failed_id, code: 'overloaded', cost: '0.00000001' });
    const eve = await here.house.signIn('eve');
    expect((await list(eve)).data).to.deep.equal([]);
    expect((await eve.get(`/api/requests/${failed_id}`)).status).to.equal(404);
    expect((await ann.get('/api/requests/none')).status).to.equal(404);
    for (const query of [`account=${ann.account_id}`, 'provider=openai']) {
      const refused = (await eve.get(`/api/requests?${query}`)).refusal();
      expect(refused).to.deep.equal([403, 'forbidden', null]);
    }
  });

  it('shows an API key what was done with it, and nothing else', async () => {
    const { store } = here.house.gateway;
    const { key, secret } = await store.createKey(ann.account_id, 'own');
    const { key: other } = await store.createKey(ann.account_id, 'other');
    const ask = async (path: string) => {
      const headers = { authorization: `Bearer ${secret}` };
      const answer = await fetch(here.house.url + path, { headers });
      return { status: answer.status, json: (await answer.json()) as Page };
    };
    const mine = recordAt(NOW_MS, { account_id: ann.account_id, key_id: key.id });
    await store.requests.add([mine]);
    for (const key_id of [key.id, other.id]) {
      await store.charge(chargeOf(`r-${key_id}`, ann.account_id, 5n, { key_id }));
    }
    const { json } = await ask('/api/requests');
    expectAnswer('RequestPage', json);
    expect(json.data.map(({ id }) => id)).to.deep.equal([mine.id]);
    expect((await ask(`/api/requests/${mine.id}`)).status).to.equal(200);
    expect((await ask(`/api/requests/${failed_id}`)).status).to.equal(404);
    expect((await ask(`/api/requests?key=${other.id}`)).status).to.equal(403);
    expect((await ask(`/api/requests?account=${boss.account_id}`)).status).to.equal(403);
    const usage = await ask('/api/usage?by=key');
    expect(usage.json.data).to.have.length(1);
    expect(usage.json).to.have.nested.property('totals.cost', '0.000000005');
    expect((await ask(`/api/usage?key=${other.id}`)).status).to.equal(403);
    for (const path of ['/api/account', '/api/keys', '/api/audit', '/api/ledger']) {
      expect((await ask(path)).status, path).to.equal(401);
    }
    await store.suspend(ann.account_id);
    expect((await ask('/api/requests')).status).to.equal(403);
    await store.resume(ann.account_id);
    await store.revokeKey(key.id);
    expect((await ask('/api/requests')).status).to.equal(401);
  });

  it('shows operators those of an account they name, and a token those of all', async () => {
    expect((await list(boss)).data).to.have.length(1);
    const { data } = await list(boss, `?account=${ann.account_id}&provider=openai`);
    expect(data).to.have.length(3);
    expect(data[0]).to.include({ provider: 'openai' });
    expect(data[0]?.attempts[0]).to.include({ provider: 'openai' });
    const all = await asToken('requests:read', '/api/requests');
    expectAnswer('RequestPage', all.json);
    expect((all.json as Page).data).to.have.length(4);
    const some = await asToken('requests:read', `/api/requests?account=${boss.account_id}`);
    expect((some.json as Page).data).to.have.length(1);
    const one = await asToken('requests:read', `/api/requests/${failed_id}`);
    expectAnswer('Request', one.json);
    expect((await asToken('usage:read', '/api/requests')).status).to.equal(403);
  });
});
