import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { Store } from '../../src/store/store-types.js';
import { recordAt, rollUp } from './requests/helpers.js';
import { chargeOf, dollars, onEachStore, type Ground } from './helpers/ground.js';

const DUE_MS = 2_000_000_000_000;
const TABLES = {
  sqlite: `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`,
  postgres: `select tablename as name from pg_tables where schemaname = current_schema()`,
} as const;

/** Adds a column to each table, and a table, as a newer version may while this one serves. */
async function expand({ place }: Ground): Promise<void> {
  const rows = await place.sql(TABLES[place.dialect]);
  const names = rows.map(({ name }) => String(name)).filter((name) => name !== 'migrations');
  const columns = names.map((name) => `alter table ${name} add column later text`);
  await place.sql(`${columns.join('; ')}; create table later (id text);
    insert into migrations (name, batch) values ('900-later', 9)`);
}

/** What calls, pages and sweeps do with a store. */
async function useAll(store: Store, ground: Ground, tag: string): Promise<void> {
  const { id: account_id } = await store.createAccount(tag, dollars(10));
  const terms = { limit_nano: dollars(9), allowances: { day: dollars(2), '5h': dollars(5) } };
  const made = await store.createKey(account_id, 'agent', terms);
  const key_id = made.key.id;
  expect((await store.caller(sha256Of(made.secret)))?.key_id).to.equal(key_id);
  expect(await store.admit(key_id)).to.deep.equal({ admitted: true });

  const ids = Array.from({ length: 5 }, (_, at) => recordAt(ground.now_ms + at).id);
  const [one = '', two = '', kept = '', let_go = ''] = ids;
  const held = ids.slice(0, 4).map((id) => store.hold(id, account_id, dollars(1) / 2n, key_id));
  for (const { admitted } of await Promise.all(held)) expect(admitted).to.equal(true);
  const refused = await store.hold('more', account_id, dollars(1), key_id);
  expect(refused).to.deep.include({ admitted: false, because: 'allowance', window: 'day' });
  await store.release(let_go, account_id);

  const call = { account_id, key_sha256: tag, request_sha256: 'b', request_id: kept };
  const idempotent = { ...call, due_ms: DUE_MS };
  expect((await store.idempotency.begin(idempotent)).is).to.equal('new');
  const cost_nano = dollars(1) / 4n;
  const record = (id: string) => recordAt(ground.now_ms, { id, account_id, key_id, cost_nano });
  await Promise.all([
    store.charge(chargeOf(one, account_id, cost_nano, { key_id }), undefined, record(one)),
    store.charge(chargeOf(two, account_id, cost_nano, { key_id }), undefined, record(two)),
  ]);
  const answered = { ...idempotent, answer: { status: 200, text: '{}' } };
  await store.charge(chargeOf(kept, account_id, cost_nano, { key_id }), answered, record(kept));
  expect((await store.idempotency.begin(idempotent)).is).to.equal('answered');
  await store.requests.add([
    recordAt(ground.now_ms, { account_id, key_id, code: 'x', status: 500 }),
  ]);
  await rollUp(ground, store);

  const limits = [{ counter: `key ${key_id}`, rates: { concurrent_requests: 1 } }];
  const taken = await store.rates.take({ request_id: one, limits, tokens: 1 });
  expect(taken.admitted).to.equal(true);
  const windows_ms = taken.counts.map((count) => count?.window_ms ?? 0);
  await store.rates.end({ request_id: one, limits, tokens: 2, windows_ms });

  await store.heartbeat('{}');
  await store.ping();
  await store.recover();
  await store.releaseForgotten(() => new Set());
  await Promise.all([store.rates.sweep(), store.images.sweep(), store.rests.sweep()]);
  await store.requests.sweep({ records_ms: 0, totals_ms: 0 });
  await store.refund({ request_id: two, account_id, reference: `${tag} back` });

  expect(await store.requests.page({ account_id, limit: 9 })).to.have.length(4);
  expect(await store.ledger(account_id, { limit: 9 })).to.have.length(5);
  expect(await store.account(tag)).to.deep.include({
    balance_nano: dollars(10) - 2n * cost_nano,
    held_nano: 0n,
  });
  expect((await store.verify()).faults).to.deep.equal([]);
}

function sha256Of(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

onEachStore('a store that a newer version has expanded', (ground) => {
  it('serves every statement of this one, prepared before or after', async () => {
    const store = await ground.open();
    await useAll(store, ground, 'before');
    await expand(ground);
    await useAll(store, ground, 'while-it-serves');
    await useAll(await ground.open(), ground, 'after-a-restart');
    expect(await store.accounts()).to.have.length(3);
  });
});
