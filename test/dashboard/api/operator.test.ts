import { expect } from 'chai';
import type { boxShape } from '../../../src/actions/box-list.js';
import type { ProvidersShape } from '../../../src/actions/provider-list.js';
import type { AccountShape, EntryShape, TaskShape } from '../../../src/actions/shapes.js';
import { ProviderHealth } from '../../../src/telemetry/provider-health.js';
import { chat } from '../../helpers/ask.js';
import { boxReport } from '../../helpers/box-report.js';
import { dollars } from '../../store/helpers/ground.js';
import { onEachApiGateway, type Client } from './helpers/api-gateway.js';

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

const HELLO = { messages: [{ role: 'user', content: 'Hello' }] };

onEachApiGateway('the API of operators', {}, (here) => {
  let boss: Client;
  beforeEach(async () => {
    boss = await here.house.signIn('boss', { operator: true });
  });

  const post = (path: string, body: unknown) => boss.send('POST', path, body);

  /** All pages, one row at a time. */
  async function pages<T>(path: string, name: string): Promise<T[]> {
    const rows: T[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const reply = await boss.get(`${path}limit=1&cursor=${cursor}`);
      const page: Page<T> = reply.as<Page<T>>(name);
      rows.push(...page.data);
      cursor = page.next_cursor;
    }
    return rows;
  }

  it('makes accounts, and lists them by name', async () => {
    const reply = await post('/api/accounts', { name: ' zoë ', credit: '2.5' });
    expect(reply.status).to.equal(201);
    expect(reply.as<AccountShape>('Account')).to.include({ name: 'zoë', balance: '2.50' });
    expect((await post('/api/accounts', { name: 'ann' })).as('Account')).to.include({
      balance: '0.00',
      available: '0.00',
    });
    const names = (await pages<AccountShape>('/api/accounts?', 'AccountPage')).map(
      ({ name }) => name,
    );
    expect(names).to.deep.equal(['ann', 'boss', 'poor', 'tester', 'zoë']);
  });

  const badAccounts: [string, object, string][] = [
    ['without a name', {}, 'name'],
    ['with a blank name', { name: ' ' }, 'name'],
    ['with a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
    ['with a name that is taken', { name: 'boss' }, 'name'],
    ['with a name like an ID', { name: 'acc_1' }, 'name'],
    ['with less than nothing', { name: 'a', credit: '-1' }, 'credit'],
    ['with a number as credit', { name: 'a', credit: 1 }, 'credit'],
    ['with a field of no meaning', { name: 'a', balance: '1' }, 'balance'],
  ];
  for (const [what, body, param] of badAccounts) {
    it(`makes no account ${what}`, async () => {
      const reply = await post('/api/accounts', body);
      expect(reply.refusal()).to.deep.equal([400, 'invalid_request', param]);
    });
  }

  it('credits an account, once for a reference', async () => {
    const { account_id } = await here.house.signIn('ann');
    const path = `/api/accounts/${account_id}/credit`;
    const body = { amount: '7.50', reference: 'invoice 1' };
    interface Credited {
      entry: EntryShape;
      account: AccountShape;
    }
    const first = (await post(path, body)).as<Credited>('Credited');
    expect(first.entry).to.include({ kind: 'credit', amount: '7.50', reference: 'invoice 1' });
    expect(first.account).to.include({ id: account_id, balance: '7.50' });
    expect((await post(path, body)).as('Credited')).to.deep.equal(first);
    const less = await post(path, { amount: '-0.5', reference: 'mistake' });
    expect(less.as<Credited>('Credited').account.balance).to.equal('7.00');
    const other = await post(path, { amount: '8', reference: 'invoice 1' });
    expect(other.refusal()).to.deep.equal([400, 'invalid_request', 'amount']);
  });

  const badCredits: [string, object, string][] = [
    ['of nothing', { amount: '0', reference: 'r' }, 'amount'],
    ['beyond the balance', { amount: '-1', reference: 'r' }, 'amount'],
    ['that is a number', { amount: 1, reference: 'r' }, 'amount'],
    ['without a reference', { amount: '1' }, 'reference'],
    ['with a blank reference', { amount: '1', reference: '  ' }, 'reference'],
    ['with a reference of two lines', { amount: '1', reference: 'a\nb' }, 'reference'],
  ];
  for (const [what, body, param] of badCredits) {
    it(`gives no credit ${what}`, async () => {
      const reply = await post(`/api/accounts/${boss.account_id}/credit`, body);
      expect(reply.refusal()).to.deep.equal([400, 'invalid_request', param]);
    });
  }

  it('knows no account by another word than its ID', async () => {
    for (const id of ['acc_0000', 'boss', 'a%00b']) {
      const reply = await post(`/api/accounts/${id}/credit`, { amount: '1', reference: 'r' });
      expect(reply.refusal(), id).to.deep.equal([404, 'not_found', null]);
    }
  });

  it('lists the tasks of all accounts, newest first, also those made at once', async () => {
    const { store } = here.house.gateway;
    const bob = await here.house.signIn('bob');
    for (const [id, account_id] of [
      ['t1', bob.account_id],
      ['t2', boss.account_id],
      ['t3', bob.account_id],
    ] as const) {
      await store.tasks.begin({
        id,
        account_id,
        key_id: 'key_1',
        model: 'm',
        provider: 'p',
        upstream_model: 'u',
        price_nano: 1n,
        upstream_price_nano: 1n,
        fee_nano: 0n,
        upstream_fee_nano: 0n,
        hold_nano: 0n,
        due_ms: here.ground.now_ms + 1_000,
        call: {
          aspect_ratio: '16:9',
          resolution: '720p',
          duration_seconds: 8,
          generate_audio: true,
          sample_count: 1,
        },
      });
    }
    await store.tasks.fail('t2', 'It broke.', here.ground.now_ms + 1_000);
    const tasks = await pages<TaskShape>('/api/tasks?', 'TaskPage');
    expect(tasks.map(({ id }) => id)).to.deep.equal(['t3', 't2', 't1']);
    const failed = await pages<TaskShape>('/api/tasks?status=FAILED&', 'TaskPage');
    expect(failed).to.have.length(1);
    expect(failed[0]).to.include({ id: 't2', error: 'It broke.', account: boss.account_id });
  });

  for (const path of [
    '/api/tasks?status=DONE',
    '/api/tasks?cursor=WzFd',
    '/api/accounts?cursor=Nw',
    '/api/accounts?limit=1000',
  ]) {
    it(`refuses ${path}`, async () => {
      expect((await boss.get(path)).refusal().slice(0, 2)).to.deep.equal([400, 'invalid_request']);
    });
  }

  it('lists the boxes, and whose clock is not as the others', async () => {
    const other = await here.ground.open();
    const value = { value: 'v', since_ms: here.ground.now_ms };
    const equal = { version: value, configuration: value, prices: value };
    const report = boxReport({ health: 'draining', equal });
    await other.heartbeat(undefined, JSON.stringify(report));
    const boxes = async () =>
      (await boss.get('/api/boxes')).as<{ data: ReturnType<typeof boxShape>[] }>('BoxList').data;
    const [first, second] = await boxes();
    const [own, draining] = first?.host === 'web2' ? [second, first] : [first, second];
    expect(own).to.deep.include({ health: 'ready', pids: [process.pid], differs_in: [] });
    expect(draining).to.deep.include({ host: 'web2', health: 'draining', differs_in: [] });
    const slow = { ...report, health: 'ready', clock_offset_ms: -9_000 };
    await other.heartbeat(undefined, JSON.stringify(slow));
    expect((await boxes()).map(({ differs_in }) => differs_in)).to.deep.equal([
      ['clock'],
      ['clock'],
    ]);
  });

  it('tells how the calls to a provider went, over all processes', async () => {
    const health = async () =>
      (await boss.get('/api/providers')).as<ProvidersShape>('ProviderList');
    const before = await health();
    expect(before.data).to.deep.equal([
      {
        name: 'acme',
        manifest: 'openai',
        answered: 0,
        refused: 0,
        failed: 0,
        last_success: null,
        last_failure: null,
        resting: [],
        unpriced: [],
      },
    ]);
    for (const model of ['acme-chat', 'acme-chat', 'acme-broken']) {
      await chat(here.house, { model, ...HELLO });
    }
    await chat(here.house, { model: 'acme-chat', stream: true, ...HELLO });
    await chat(here.house, { model: 'acme-cut', stream: true, ...HELLO }).catch(() => undefined);
    const other = await here.ground.open();
    const outcomes = new ProviderHealth(() => here.ground.now_ms);
    outcomes.answered('acme');
    outcomes.answered('not in this file');
    const bare = { model: 'acme-chat', unit: 'tiers.flex' };
    outcomes.unpriced('acme', bare);
    await other.heartbeat(JSON.stringify(outcomes.report()));
    const { processes, data } = await health();
    expect(processes).to.equal(2);
    const now = new Date(here.ground.now_ms).toISOString();
    expect(data.map(({ name }) => name)).to.deep.equal(['acme']);
    expect(data[0]).to.deep.include({ answered: 4, refused: 0, failed: 2, last_success: now });
    expect(data[0]?.unpriced).to.deep.equal([bare]);
    expect(data[0]?.last_failure?.at).to.equal(now);
  });

  it("says of a failure what a client may know, and never the provider's own words", async () => {
    await chat(here.house, { model: 'acme-broken', ...HELLO });
    const reply = await boss.get('/api/providers');
    const [acme] = reply.as<ProvidersShape>('ProviderList').data;
    expect(acme?.last_failure).to.deep.equal({
      at: new Date(here.ground.now_ms).toISOString(),
      fault: 'broken',
      message: 'The upstream answered with status 500.',
    });
    expect(reply.text).not.to.include('Segmentation').and.not.to.include('sk-acme');
  });

  it('credits with the ledger adding up', async () => {
    const { account_id } = await here.house.signIn('ann', { credit_nano: dollars(1) });
    const path = `/api/accounts/${account_id}/credit`;
    const one = { amount: '1', reference: 'once' };
    await Promise.all([post(path, one), post(path, one), post(path, one)]);
    const { store } = here.house.gateway;
    expect((await store.account(account_id))?.balance_nano).to.equal(dollars(2));
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});
