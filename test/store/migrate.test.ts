import { expect } from 'chai';
import type { LiveProcess } from '../../src/store/leases/leases.js';
import { migrate, pendingMigrations } from '../../src/store/migrate.js';
import { MIGRATIONS, type Migration } from '../../src/store/migrations.js';
import { openStore } from '../../src/store/open.js';
import { boxReport } from '../helpers/box-report.js';
import { until } from '../helpers/until.js';
import { onEachStore, refusal } from './helpers/ground.js';
import { emptyPlace, migrateTo } from './helpers/old-store.js';

const NAMES = MIGRATIONS.map(({ name }) => name);

/** What later releases may do: add a column, and a release later take another one away. */
const LATER: readonly Migration[] = [
  {
    name: '900-added',
    kind: 'expands',
    effect: 'quick',
    up: (trx) => trx.schema.alterTable('rests', (table) => void table.text('later')),
  },
  {
    name: '901-taken-away',
    kind: 'contracts',
    lowest: 900,
    effect: 'quick',
    up: (trx) => trx.schema.alterTable('rests', (table) => void table.dropColumn('fault')),
  },
];

onEachStore('the migrations of the store', (ground) => {
  it('apply pending migrations in order, and then none', async () => {
    await emptyPlace(ground.place);
    expect(await migrate(ground.place.url)).to.deep.equal({ applied: NAMES });
    expect(await migrate(ground.place.url)).to.deep.equal({ applied: [] });
    const rows = await ground.place.sql('select name from migrations order by id');
    expect(rows.map(({ name }) => name)).to.deep.equal(NAMES);
  });

  it('are applied once each where many begin at once', async () => {
    await emptyPlace(ground.place);
    const urls = Array.from({ length: 4 }, () => ground.place.url);
    const results = await Promise.all(urls.map((url) => migrate(url)));
    expect(results.flatMap(({ applied }) => applied)).to.deep.equal(NAMES);
  });

  it('leave a database alone that another line of versions has migrated, and refuse it', async () => {
    await ground.place.sql(`insert into migrations (name, batch) values ('007-other', 2)`);
    const sentence = /^StoreError: The store is of a newer version .* "007-other"/;
    expect(await refusal(migrate(ground.place.url))).to.match(sentence);
    expect(await refusal(pendingMigrations(ground.place.url))).to.match(sentence);
    expect(await refusal(ground.open())).to.match(sentence);
    expect(await ground.place.sql('select id from accounts')).to.deep.equal([]);
  });

  it('let this version start on what the next one added, and not on what it took away', async () => {
    const { url } = ground.place;
    const added = LATER.slice(0, 1);
    expect(await migrate(url, { migrations: [...MIGRATIONS, ...added] })).to.deep.equal({
      applied: ['900-added'],
    });
    expect(await migrate(url)).to.deep.equal({ applied: [] });
    expect(await pendingMigrations(url)).to.deep.equal([]);
    const store = await ground.open();
    expect(await store.outdated()).to.equal(undefined);
    const command = await openStore(url, { now: Date.now, purpose: 'using' });
    await command.close();
    await migrate(url, { migrations: [...MIGRATIONS, ...LATER] });
    const fault =
      'The store is of a newer version of Tollgate: a program that serves it must know its ' +
      'migration 900, ' +
      `and this version knows those up to ${NAMES.length}; install the version that migrated it, ` +
      'or a newer one.';
    expect(await store.outdated()).to.equal(fault);
    const refused = [
      () => ground.open(),
      () => migrate(url),
      () => pendingMigrations(url),
      () => openStore(url, { now: Date.now, purpose: 'using' }),
    ];
    for (const one of refused) expect(await refusal(one())).to.equal(`StoreError: ${fault}`);
    expect(await migrate(url, { migrations: [...MIGRATIONS, ...LATER] })).to.deep.equal({
      applied: [],
    });
  });

  describe('that contract', () => {
    const migrations = [...MIGRATIONS, ...LATER];
    const applied = LATER.map(({ name }) => name);
    const fault = () => ground.place.sql('select fault from rests');
    let told: LiveProcess[];
    beforeEach(() => (told = []));
    const onOlder = (older: readonly LiveProcess[]): void => void told.push(...older);

    const beat = async (known: number) => {
      const store = await ground.open();
      await store.heartbeat(undefined, JSON.stringify(boxReport({ migrations: known })));
      return store;
    };

    it('show a box that is too old no error: it drains and ends first', async () => {
      const old = await beat(MIGRATIONS.length);
      const migrating = migrate(ground.place.url, { migrations, onOlder });
      await until(() => told.length > 0, 'it waits');
      expect(told.map(({ box }) => box)).to.deep.equal([
        boxReport({ migrations: MIGRATIONS.length }),
      ]);
      const sentence = /a program that serves it must know its migration 900/;
      expect(await old.outdated()).to.match(sentence);
      expect(await refusal(ground.open())).to.match(sentence);
      expect(await fault(), 'what it uses is there').to.deep.equal([]);
      await ground.close(old);
      expect(await migrating).to.deep.equal({ applied });
      expect(told).to.have.length(1);
      expect(await refusal(fault())).to.match(/fault/);
    });

    it('do not wait longer for it than it may take to drain', async () => {
      await (await ground.open()).heartbeat();
      const options = { migrations, onOlder, drain_ms: 0 };
      expect(await migrate(ground.place.url, options)).to.deep.equal({ applied });
      expect(told.map(({ box }) => box)).to.deep.equal([null]);
    });

    it('do not wait for boxes that are new enough, or speak as later ones do', async () => {
      await beat(900);
      await (await ground.open()).heartbeat(undefined, '{"later":true}');
      expect(await migrate(ground.place.url, { migrations, onOlder })).to.deep.equal({ applied });
      expect(told).to.deep.equal([]);
    });

    it('go on after a kill that left the contract raised', async () => {
      const old = await beat(MIGRATIONS.length);
      const stopped = Promise.resolve();
      const killed = migrate(ground.place.url, { migrations, stopped });
      expect(await refusal(killed)).to.equal('WaitEnded: older boxes have not ended');
      expect(await old.outdated()).to.be.a('string');
      await ground.close(old);
      const left = await migrate(ground.place.url, { migrations, onOlder });
      expect(left).to.deep.equal({ applied: ['901-taken-away'] });
      expect(told).to.deep.equal([]);
    });
  });

  it('are told to who serves before they are applied', async () => {
    const told: string[] = [];
    const onMigrating = (names: readonly string[]): void => void told.push(...names);
    await emptyPlace(ground.place);
    await migrate(ground.place.url, { onMigrating });
    expect(told, 'of a new store').to.deep.equal([]);
    await migrate(ground.place.url, { onMigrating, migrations: [...MIGRATIONS, ...LATER] });
    expect(told).to.deep.equal(['900-added', '901-taken-away']);
  });

  it('are named before they are applied, and nothing is changed by that', async () => {
    await emptyPlace(ground.place);
    expect(await pendingMigrations(ground.place.url)).to.deep.equal(MIGRATIONS);
    await migrateTo(ground.place, '024-reconciliations');
    expect(await pendingMigrations(ground.place.url)).to.deep.equal(MIGRATIONS.slice(24));
    expect(await ground.place.sql('select name from migrations')).to.have.length(24);
  });

  it('run despite the lock of a killed process', async () => {
    await migrate(ground.place.url);
    // This one makes a table, so it cannot run twice.
    await ground.place.sql(`delete from migrations where name >= '014-prices'`);
    expect(await refusal(migrate(ground.place.url))).to.match(
      /already exists|duplicate column|no such index|does not exist/,
    );
    const locks = await ground.place.sql('select is_locked from migrations_lock');
    expect(locks.map(({ is_locked }) => Number(is_locked))).to.deep.equal([0]);
    const left = NAMES.indexOf('014-prices');
    expect(await ground.place.sql('select name from migrations')).to.have.length(left);
  });

  it('keep the keys, holds and charges of a store that is older than terms', async () => {
    await emptyPlace(ground.place);
    await migrateTo(ground.place, '003-pictures');
    const now_ms = ground.now_ms;
    await ground.place.sql(`
      insert into accounts values ('acc_1', 'ann', 8, 5, ${now_ms});
      insert into keys values ('key_1', 'acc_1', 'old', 'tg-', 'hash', ${now_ms}, null, null);
      insert into processes values ('ghost', 'elsewhere', 1, 0, 0);
      insert into holds values ('r2', 'acc_1', 'ghost', 5, ${now_ms});
      insert into ledger
        (account_id, kind, reference, amount_nano, key_id, model, usage, estimated, created_ms)
        values ('acc_1', 'credit', 'c', 10, null, null, null, false, ${now_ms}),
          ('acc_1', 'charge', 'r1', -2, 'key_1', 'm', '{"prompt_tokens":1}', false, ${now_ms})`);
    const store = await ground.open();
    const caller = { key_id: 'key_1', account_id: 'acc_1', models: undefined };
    expect(await store.caller('hash')).to.deep.equal(caller);
    const [key] = await store.keys('acc_1');
    expect(key).to.deep.include({ expires_ms: null, limit_nano: null, spent_nano: 0n });
    expect(await store.hold('r3', 'acc_1', 3n, 'key_1')).to.deep.equal({ admitted: true });
    await store.release('r2', 'acc_1');
    const [day] = await store.usage('acc_1', { from_ms: now_ms, to_ms: now_ms + 1 });
    expect(day).to.deep.include({ calls: 1, prompt_tokens: 1, cached_tokens: 0, cost_nano: 2n });
    const [, charge] = await store.ledger('acc_1', { limit: 9 });
    expect(charge).to.deep.include({ usage: '{"prompt_tokens":1}', cached_tokens: null });
    expect(await store.verify()).to.deep.include({ entries: 2, open_holds: 1, faults: [] });
  });

  it('keep the idempotency keys and alerts of a store with older names', async () => {
    await emptyPlace(ground.place);
    await migrateTo(ground.place, '015-account-days');
    const due_ms = ground.now_ms + 1_000;
    await ground.place.sql(`
      insert into accounts values ('acc_1', 'ann', 8, 0, 0, null);
      insert into idempotency_keys
        (account_id, key_sha256, asked_sha256, request_id, due_ms, status, answer)
        values ('acc_1', 'k', 'a', 'r1', ${due_ms}, 200, '{}');
      insert into alert_claims values ('store_down', ${ground.now_ms})`);
    const store = await ground.open();
    const call = { account_id: 'acc_1', key_sha256: 'k', request_sha256: 'a', request_id: 'r2' };
    const state = await store.idempotency.begin({ ...call, due_ms });
    expect(state).to.deep.equal({ is: 'answered', answer: { status: 200, text: '{}' } });
    expect(await store.alerts.claim('store_down', 60_000)).to.equal(false);
  });

  it('keep held amounts from falling below zero by any statement', async () => {
    const store = await ground.open();
    await store.createAccount('ann', 0n);
    const said = await refusal(ground.place.sql('update accounts set held_nano = -1'));
    expect(said).to.contain('accounts_held_not_negative');
  });
});

describe('the list of migrations', () => {
  it('is numbered without a gap and names no file', () => {
    for (const [at, name] of NAMES.entries()) {
      expect(name).to.match(new RegExp(`^${String(at + 1).padStart(3, '0')}-[a-z-]+$`));
    }
  });

  it('takes away only what an earlier release has stopped using', () => {
    const first = NAMES.indexOf('026-contract');
    for (const [at, migration] of MIGRATIONS.entries()) {
      if (at <= first || migration.kind !== 'contracts') continue;
      expect(migration.lowest, migration.name).to.be.within(first + 1, at);
    }
  });
});
