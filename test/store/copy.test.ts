import { existsSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { backupStore } from '../../src/store/backup.js';
import { copyStore } from '../../src/store/copy.js';
import { openDatabase } from '../../src/store/database.js';
import { LEASE_MS } from '../../src/store/leases/leases.js';
import { openStore } from '../../src/store/open.js';
import type { Store } from '../../src/store/store-types.js';
import {
  chargeOf,
  dollars,
  makeOtherPlace,
  onEachStore,
  refusal,
  type Place,
} from './helpers/ground.js';
import { migrateTo } from './helpers/old-store.js';
import { recordAt, rollUp } from './requests/helpers.js';

const BY = { kind: 'cli', id: 'ann', name: null, request_id: null } as const;
const IMAGE = Buffer.from('89504e470d0a1a0a00ff', 'hex');
const HOUR_MS = 3_600_000;
/** More than a batch has. */
const CHARGES = 1_500;
/** For tests that are of no batches. */
const FEW_CHARGES = 9;
/** More than fits a number of JavaScript. */
const LARGE_NANO = 2n ** 60n + 1n;

/** What no function of the store writes in a test as short as this one. */
const OTHER_ROWS = `
  insert into processes (id, place, pid, started_ms, seen_ms) values ('ghost', 'afar', 1, 0, 0);
  insert into holds (request_id, account_id, process_id, amount_nano, created_ms)
    select 'held', id, 'ghost', 5, 7 from accounts where name = 'ann';
  update accounts set held_nano = 5 where name = 'ann';
  insert into allowances (owner_kind, owner_id, window_name, amount_nano)
    select 'account', id, 'day', 900 from accounts;
  insert into tasks (id, account_id, key_id, process_id, model, provider, upstream_model, call,
      jobs, status, price_nano, hold_nano, version, polled_ms, due_ms, created_ms, updated_ms)
    select 't' || name, id, 'key_1', 'gone', 'm', 'p', 'u', '{"text":"é"}', '[]', 'FAILED', 1, 0,
      1, 2, 3, 4, 5 from accounts;
  insert into contents (task_id, position, place) values ('tann', 0, 'https://example.com/a');
  insert into identities (provider, subject, account_id, email, created_ms)
    select 'google', '1', id, 'ann@example.com', 3 from accounts where name = 'ann';
  insert into sessions (secret_sha256, account_id, via, operator, created_ms, seen_ms)
    select 's', id, 'link', true, 1, 2 from accounts where name = 'ann';
  insert into sign_in_links (secret_sha256, account_id, operator, due_ms)
    select 'l', id, false, 1 from accounts where name = 'ann';
  insert into pending_sign_ins (secret_sha256, provider, return_to, due_ms)
    values ('p', 'google', '/', 1);
  insert into idempotency_keys
      (account_id, key_sha256, request_sha256, request_id, status, answer, due_ms, free)
    select id, 'k', 'a', 'r1', 200, '{}', 9, true from accounts where name = 'ann';
  insert into alert_claims (condition, reported_ms) values ('store_down', 1);
  insert into rates (counter, window_ms, requests, tokens, in_flight) values ('c', 1, 2, 3, 4);
  insert into rate_slots (request_id, counter, process_id, created_ms)
    values ('held', 'c', 'ghost', 1);
  insert into rests (provider, model, until_ms, since_ms, failures, fault, probe_until_ms,
    told_until_ms) values ('p', 'm', 1, 2, 3, 'f', 4, 5);
  insert into reconciliations (providers, made_ms, report) values ('openai', 1, '{}');
  insert into request_prices (model, provider, upstream_model, since_ms, price)
    values ('m', 'p', 'u', 1, '{}')`;

onEachStore('a copy of a store', (ground) => {
  let places: Place[];
  beforeEach(() => {
    places = [];
  });
  afterEach(async () => {
    for (const place of places.splice(0)) await place.drop();
  });

  async function otherPlace(place: Place = ground.place): Promise<Place> {
    const other = await makeOtherPlace(place);
    places.push(other);
    return other;
  }

  /** A store in which every table has rows. */
  async function fill(count: number): Promise<void> {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(10));
    await store.createAccount('bob & co', LARGE_NANO);
    const { key } = await store.createKey(id, 'k', {
      models: ['gpt-4o-mini'],
      limit_nano: dollars(2),
    });
    await store.createKey(id, 'old');
    await store.tokens.create({ name: 'shop', scopes: ['accounts:read'] }, BY);
    const charges = Array.from({ length: count }, (_, at) => {
      const terms = { account_id: id, key_id: key.id, own_ms: at / 7 };
      const record = recordAt(ground.now_ms + at, terms);
      const charge = chargeOf(record.id, id, 3n, { key_id: key.id });
      return store.charge(charge, undefined, record);
    });
    await Promise.all(charges);
    await store.charge(chargeOf('r1', id, 1000n, { saved_nano: -3n, lost_nano: 1n }));
    await store.refund({ request_id: 'r1', amount_nano: 400n }, BY);
    await rollUp(ground, store);
    await store.requests.add([recordAt(ground.now_ms, { account_id: id })]);
    const terms = { due_ms: ground.now_ms + HOUR_MS, total_bytes: 99, account_id: id, free: false };
    await store.images.keep('one', IMAGE, terms);
    await ground.close(store);
    await ground.place.sql(OTHER_ROWS);
  }

  function byName([one]: [string, unknown], [other]: [string, unknown]): number {
    return one < other ? -1 : 1;
  }

  /** All rows of all tables, as text that is the same for both databases. */
  async function rowsOf({ url }: Place): Promise<Record<string, string[]>> {
    const database = openDatabase(url);
    const all: Record<string, string[]> = {};
    for (const table of await tablesOf(url)) {
      const rows = await database.read<Record<string, unknown>[]>((knex) => knex(table).select());
      all[table] = rows
        // Each database made its columns in its own order.
        .map(({ data: _bytes, ...row }) => Object.entries(row).toSorted(byName))
        .map((row) => JSON.stringify(Object.fromEntries(row), plainValue))
        .toSorted();
    }
    await database.close();
    return all;
  }

  async function tablesOf(url: string): Promise<string[]> {
    const database = openDatabase(url);
    const from = url.startsWith('sqlite:')
      ? `(select name from sqlite_schema where type = 'table') as tables`
      : `(select tablename as name from pg_tables where schemaname = current_schema()) as tables`;
    const rows = await database.read<{ name: string }[]>((knex) =>
      knex.from(knex.raw(from)).orderBy('name').select('name'),
    );
    await database.close();
    return rows
      .map(({ name }) => name)
      .filter((name) => !/^(sqlite_|migrations|store_contract$)/u.test(name));
  }

  async function openCopy({ url }: Place): Promise<Store> {
    return openStore(url, { now: () => ground.now_ms });
  }

  it('there and back is equal row by row, in every table', async () => {
    await fill(CHARGES);
    const before = await rowsOf(ground.place);
    const unfilled = Object.keys(before).filter((table) => before[table]?.length === 0);
    expect(unfilled, 'tables without rows').to.deep.equal([]);
    const other = await otherPlace();
    const report = await copyStore(ground.place.url, other.url);
    expect(report.images).to.deep.equal({ copied: 1, missing: 0 });
    const ledger = report.tables.find(({ table }) => table === 'ledger');
    expect(ledger).to.deep.include({ rows: CHARGES + 4 });
    expect(ledger?.sums).to.include({ amount: '1152921514.606841877', uncollected: '0.00' });
    expect(report.tables.map(({ table }) => table)).to.have.members(Object.keys(before));

    const back = await otherPlace(other);
    await copyStore(other.url, back.url);
    const numbers = ['requests', 'request_roll_up'];
    const settled = (all: Record<string, string[]>): Record<string, string[]> =>
      Object.fromEntries(
        Object.entries(all).map(([table, rows]) => [
          table,
          numbers.includes(table)
            ? rows.map((row) => row.replace(/"(?:seq|upto)":"\d+",?/u, '')).toSorted()
            : rows,
        ]),
      );
    for (const place of [other, back]) {
      expect(settled(await rowsOf(place))).to.deep.equal(settled(before));
    }
    for (const place of [other, back]) {
      const store = await openCopy(place);
      const { bytes } = (await store.images.image('one')) ?? {};
      expect(bytes).to.deep.equal(IMAGE);
      expect((await store.verify()).faults).to.deep.equal([]);
      await store.close();
    }
  });

  it('goes on where the store was: IDs follow, and each record is in the totals once', async () => {
    await fill(FEW_CHARGES);
    const other = await otherPlace();
    await copyStore(ground.place.url, other.url);
    const store = await openCopy(other);
    const found = await store.account('ann');
    const id = found?.id ?? '';
    await store.credit(id, 5n, 'more', BY);
    const entries = await store.ledger(id, { limit: FEW_CHARGES + 9 });
    expect(entries).to.have.length(FEW_CHARGES + 4);
    await store.requests.add([recordAt(ground.now_ms + 1, { account_id: id })]);
    await rollUp({ place: other }, store);
    const range = { from_ms: ground.now_ms - HOUR_MS, to_ms: ground.now_ms + HOUR_MS };
    const [total] = await store.requests.totals({ ...range, period: 'day', by: [] });
    expect(total?.calls).to.equal(FEW_CHARGES + 2);
    expect((await store.verify()).faults).to.deep.equal([]);
    await store.close();
  });

  it('leaves a store without rows where it fails in the middle, and can then be made', async () => {
    await fill(FEW_CHARGES);
    const other = await otherPlace();
    await ground.place.sql(`update accounts set balance_nano = balance_nano + 1`);
    const said = await refusal(copyStore(ground.place.url, other.url));
    expect(said).to.match(/^StoreError: Nothing was copied: the store does not add up: Account /u);
    const rows = Object.entries(await rowsOf(other)).filter(([, all]) => all.length > 0);
    expect(rows.map(([table]) => table)).to.deep.equal(['request_roll_up']);
    if (other.dialect === 'sqlite') {
      const folder = `${other.url.slice('sqlite:'.length)}-images`;
      expect(existsSync(folder) ? readdirSync(folder) : []).to.deep.equal([]);
    }
    await ground.place.sql(`update accounts set balance_nano = balance_nano - 1`);
    await copyStore(ground.place.url, other.url);
  });

  it('fails at a fault of a write, in one line without rows', async () => {
    await fill(FEW_CHARGES);
    const other = await otherPlace();
    await (await openCopy(other)).close();
    await other.sql('create unique index blown on keys (account_id)');
    const said = await refusal(copyStore(ground.place.url, other.url));
    expect(said).to.match(/^StoreError: Nothing was copied: [^\n]*unique constraint[^\n]*$/iu);
    expect(said).not.to.include('insert');
    expect(await other.sql('select id from accounts')).to.deep.equal([]);
  });

  it('refuses a store that has rows, is served, is missing or is of another version', async () => {
    const other = await otherPlace();
    const missing = 'sqlite:none/a.db';
    expect(await refusal(copyStore(missing, other.url))).to.match(
      /^StoreError: FROM: .*not there/u,
    );
    await migrateTo(other, '021-rests');
    expect(await refusal(copyStore(other.url, ground.place.url))).to.match(
      /^StoreError: FROM: The store is of an older version/u,
    );
    const store = await openCopy(other);
    await store.heartbeat();
    const used = /: (?:Another program has .* open|The store is served)\. Stop /u;
    expect(await refusal(copyStore(other.url, ground.place.url)))
      .to.match(/FROM/u)
      .and.match(used);
    expect(await refusal(copyStore(ground.place.url, other.url)))
      .to.match(/TO/u)
      .and.match(used);
    await store.createAccount('ann', 1n);
    await store.close();
    expect(await refusal(copyStore(ground.place.url, other.url))).to.match(
      /^StoreError: Nothing was copied: TO is not empty: it has rows in "accounts"/u,
    );
  });

  it('takes a process of another machine for alive for a minute, and not longer', async () => {
    if (ground.place.dialect === 'sqlite') return;
    const other = await otherPlace();
    const row = (id: string, age_ms: number): Promise<unknown> =>
      ground.place.sql(`insert into processes (id, place, pid, started_ms, seen_ms) select
        '${id}', 'afar', 1, 0, floor(extract(epoch from clock_timestamp()) * 1000) - ${age_ms}`);
    await row('late', LEASE_MS + 9_000);
    await row('live', 0);
    expect(await refusal(copyStore(ground.place.url, other.url))).to.contain('is served');
    await ground.place.sql(`delete from processes where id = 'live'`);
    await copyStore(ground.place.url, other.url);
  });
});

onEachStore(
  'a copy of a backup',
  (ground) => {
    it('restores it, also one that was made while the store was served', async () => {
      const store = await ground.open();
      await store.heartbeat();
      const { id } = await store.createAccount('ann', dollars(3));
      const terms = { due_ms: ground.now_ms + 1, total_bytes: 99, account_id: id, free: true };
      await store.images.keep('one', IMAGE, terms);
      const file = `${ground.place.url.slice('sqlite:'.length)}.monday`;
      await backupStore(ground.place.url, file);
      const other = await makeOtherPlace(ground.place);
      const report = await copyStore(`sqlite:${file}`, other.url);
      expect(report.images).to.deep.equal({ copied: 0, missing: 1 });
      const restored = await openStore(other.url, { now: () => ground.now_ms });
      expect(await restored.account('ann')).to.include({ balance_nano: dollars(3) });
      await restored.close();
      await other.drop();
    });
  },
  ['SQLite'],
);

it('a copy from PostgreSQL to PostgreSQL is a matter of pg_dump', async () => {
  const said = await refusal(copyStore('postgres://a/b', 'postgresql://c/d'));
  expect(said).to.contain('pg_dump');
});

/** Numbers and booleans of both databases as the same text. */
function plainValue(_name: string, value: unknown): unknown {
  return typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint'
    ? String(typeof value === 'boolean' ? Number(value) : value)
    : value;
}
