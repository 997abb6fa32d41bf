import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { backupStore } from '../../../src/store/backup.js';
import { migrate } from '../../../src/store/migrate.js';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store-types.js';
import { postgresProgram, startCluster, type Cluster } from '../helpers/cluster.js';
import { chargeOf, dollars, onEachStore, type Ground } from '../helpers/ground.js';
import { emptyPlace, migrateTo } from '../helpers/old-store.js';
import { recordAt, rollUp } from './helpers.js';

const NOW_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

async function callsIn({ requests }: Store): Promise<number> {
  const range = { from_ms: NOW_MS - HOUR_MS, to_ms: NOW_MS + HOUR_MS, by: [] };
  const [totals] = await requests.totals({ ...range, period: 'hour' });
  return totals?.calls ?? 0;
}

/** Adds what can be added now. */
async function rollUpOnce({ requests }: Store): Promise<void> {
  while (await requests.rollUp());
}

/** An insert of a record as an older version makes it: the default numbers it. */
function inserted(id: string): string {
  return `insert into requests (id, time_ms, account_id, key_id, endpoint, status, streamed,
    took_ms, own_ms, cost_nano, flags)
    values ('${id}', ${NOW_MS}, 'acc_1', 'key_1', 'chat', 200, false, 1, 1, 5, 0)`;
}

onEachStore(
  'the numbers of records',
  (ground: Ground) => {
    it('leave no record out of the totals that is committed after a later one', async () => {
      const [one, two] = [await ground.open(), await ground.open()];
      const commit = await ground.place.lock(inserted('first'));
      await one.requests.add([recordAt(NOW_MS), recordAt(NOW_MS + 1)]);
      for (const store of [one, two, one, two]) await rollUpOnce(store);
      const before = await callsIn(one);
      await commit();
      expect(before).to.equal(0);
      await rollUp(ground, one, two);
      expect(await callsIn(two)).to.equal(3);
    });

    it('leave no entry out of the usage that is committed after a later one', async () => {
      const store = await ground.open();
      const ann = await store.createAccount('ann', dollars(1));
      const ben = await store.createAccount('ben', dollars(1));
      // As the charge of a video is written: its task is locked first.
      const commit = await ground.place.lock(`insert into allowances
          (owner_kind, owner_id, window_name, amount_nano) values ('account', 'x', 'day', 1);
        insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
          values ('${ann.id}', 'charge', 'first', 0, false, ${NOW_MS})`);
      await store.charge(chargeOf('second', ben.id, 7n));
      for (let at = 0; at < 3; at += 1) await rollUpOnce(store);
      await commit();
      await rollUp(ground, store);
      const [row] = await store.usage(ann.id, { from_ms: NOW_MS, to_ms: NOW_MS + 1 });
      expect(row?.calls).to.equal(1);
      expect((await store.verify()).faults).to.deep.equal([]);
    });

    it('give each record of concurrent transactions to the totals once', async function () {
      this.timeout(60_000);
      const stores = [await ground.open(), await ground.open()];
      let isOver = false;
      const adding = stores.map(async (store) => {
        while (!isOver) {
          await store.requests.rollUp();
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      });
      const [WRITERS, EACH] = [8, 40];
      const writing = Array.from({ length: WRITERS }, async (_, writer) => {
        const client = new pg.Client({ connectionString: ground.place.url });
        await client.connect();
        for (let at = 0; at < EACH; at++) {
          await client.query('begin');
          await client.query(inserted(`${writer}-${at}`));
          await client.query('select pg_sleep(random() * 0.02)');
          await client.query(at % 10 === 9 ? 'rollback' : 'commit');
        }
        await client.end();
      });
      await Promise.all(writing);
      isOver = true;
      await Promise.all(adding);
      await rollUp(ground, ...stores);
      expect(await callsIn(stores[0] as Store)).to.equal(WRITERS * EACH * 0.9);
    });

    it('are counted once in a store of an older version, also after its restore', async () => {
      await emptyPlace(ground.place);
      await migrateTo(ground.place, '016-standard-names');
      // Added to the totals on a server that had run more transactions; and after a restore, here.
      await ground.place.sql(`${inserted('old')}; update requests set seq = 999999999;
        insert into request_accounts values ('acc_1', 'old'); ${inserted('after-restore')};
        update request_roll_up set upto = 999999999`);
      // A process of that version goes on.
      const older = new pg.Client({ connectionString: ground.place.url });
      await older.connect();
      await older.query(`prepare record as ${inserted('before')}`);
      await older.query('execute record');
      await older.query(`deallocate record; prepare record as ${inserted('beside')}`);
      await older.query('begin');
      await older.query(inserted('open'));
      const migrating = migrate(ground.place.url);
      await older.query('select pg_sleep(0.2)');
      await older.query('commit');
      await migrating;
      await older.query('execute record');
      await older.end();
      const store = await ground.open();
      await rollUp(ground, store);
      const rows = await ground.place.sql('select id from request_accounts order by id');
      expect(rows.map(({ id }) => id)).to.deep.equal([
        'after-restore',
        'before',
        'beside',
        'old',
        'open',
      ]);
      expect(await callsIn(store)).to.equal(4);
    });
  },
  ['PostgreSQL'],
);

onEachStore('the totals of a restored store', (ground: Ground, name) => {
  let cluster: Cluster | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-restore-'));

  before(async function () {
    this.timeout(60_000);
    if (name === 'PostgreSQL') cluster = await startCluster();
  });

  after(() => {
    cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Copies the store, on PostgreSQL to another server. Resolves with the copy's URL. */
  async function restored(): Promise<string> {
    const file = join(folder, 'copy');
    if (!cluster) {
      await backupStore(ground.place.url, file);
      return `sqlite:${file}`;
    }
    const schema = /search_path%3D(\w+)|search_path=(\w+)/u.exec(ground.place.url);
    const only = `--schema=${schema?.[1] ?? schema?.[2]}`;
    const from = new URL(ground.place.url);
    const { search } = from;
    from.search = '';
    execFileSync(postgresProgram('pg_dump'), ['-Fc', only, '-f', file, from.href]);
    execFileSync(postgresProgram('pg_restore'), ['-d', cluster.url, file]);
    return cluster.url + search;
  }

  it('go on with the first call on the other server', async function () {
    this.timeout(60_000);
    const first = await ground.open();
    await first.requests.add([recordAt(NOW_MS), recordAt(NOW_MS + 1)]);
    await rollUp(ground, first);
    await first.requests.add([recordAt(NOW_MS + 2)]);
    const store = await openStore(await restored(), { now: () => NOW_MS });
    try {
      await store.requests.add([recordAt(NOW_MS + 3), recordAt(NOW_MS + 4)]);
      await rollUpOnce(store);
      expect(await callsIn(store)).to.equal(5);
      const { records } = await store.requests.tail({ seq: 0n, id: '' }, 10);
      expect(records).to.have.length(5);
    } finally {
      await store.close();
    }
  });
});
