import { expect } from 'chai';
import { migrate } from '../../../src/store/migrate.js';
import type { MigrationStep } from '../../../src/store/migration-steps.js';
import { MIGRATIONS, type Migration } from '../../../src/store/migrations.js';
import type { Store } from '../../../src/store/store-types.js';
import { until } from '../../helpers/until.js';
import { recordAt } from '../requests/helpers.js';
import { chargeOf, dollars, onEachStore, refusal, type Ground } from '../helpers/ground.js';

/** More than two batches. */
const ROWS = 2_500;
/** Calls that are made while a migration waits for something. */
const CALLS = 20;

const expands = { kind: 'expands' } as const;
const ADDED: Migration = {
  name: '900-added',
  ...expands,
  effect: 'quick',
  up: (trx) => trx.schema.alterTable('requests', (table) => void table.text('later')),
};
const INDEX = { index: 'requests_later', on: 'requests (later, id)' };

function besideCalls(...steps: MigrationStep[]): Migration {
  return { name: '901-filled', ...expands, effect: 'beside_calls', steps };
}

/** Fills the column `later`; `between` runs in the transaction of each batch. */
function filling(between: (batch: number) => Promise<void> = async () => undefined) {
  let batches = 0;
  return {
    fill: async (trx, limit) => {
      const some = trx('requests').whereNull('later').limit(limit).select('id');
      const rows = await trx('requests').whereIn('id', some).update({ later: 'x' });
      if (rows > 0) await between((batches += 1));
      return rows;
    },
  } satisfies MigrationStep;
}

async function fillRequests({ place }: Ground, store: Store): Promise<void> {
  await store.requests.add([recordAt(1)]);
  const columns = (
    await place.sql(`select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = 'requests' and column_name <> 'seq'`)
  )
    .map(({ name }) => String(name))
    .filter((name) => name !== 'id');
  await place.sql(`insert into requests (id, ${columns.join(', ')})
    select 'r' || n, ${columns.join(', ')} from requests, generate_series(2, ${ROWS}) as n`);
}

/** Makes calls, each with a hold, a charge and a record; resolves when all are charged. */
async function makeCalls(store: Store, account_id: string, tag: string): Promise<void> {
  for (let n = 0; n < CALLS; n += 1) {
    const id = `${tag} ${n}`;
    expect(await store.hold(id, account_id, 5n)).to.deep.include({ admitted: true });
    const record = recordAt(Date.now(), { account_id });
    const charged = await store.charge(chargeOf(id, account_id, 2n), undefined, record);
    expect(charged).to.deep.equal({ uncollected_nano: 0n });
  }
}

/** Whether a statement of the migration waits for a lock. */
async function isWaiting({ place }: Ground, statement: string): Promise<boolean> {
  const name = new URL(place.url).searchParams.get('application_name');
  const rows = await place.sql(`select 1 from pg_stat_activity where application_name = '${name}'
    and wait_event_type = 'Lock' and query ilike '${statement}%'`);
  return rows.length > 0;
}

onEachStore(
  'a migration beside calls',
  (ground) => {
    let store: Store;
    let account_id: string;

    beforeEach(async () => {
      store = await ground.open();
      account_id = (await store.createAccount('ann', dollars(10))).id;
    });

    const run = (...migrations: Migration[]): Promise<{ applied: string[] }> =>
      migrate(ground.place.url, { migrations: [...MIGRATIONS, ...migrations] });

    async function expectCharges(calls: number): Promise<void> {
      const { faults, entries, open_holds } = await store.verify();
      expect({ faults, entries, open_holds }).to.deep.equal({
        faults: [],
        entries: calls + 1,
        open_holds: 0,
      });
    }

    it('lets calls through while an index is built and rows are changed', async () => {
      await fillRequests(ground, store);
      await run(ADDED);
      const sizes: number[] = [];
      const fill = filling(async (batch) => {
        sizes.push(batch);
        await makeCalls(store, account_id, `batch ${batch}`);
      });
      // Whoever builds the index waits for this writer.
      const unlock = await ground.place.lock(`update requests set flags = 0 where id = 'r2'`);
      const migrating = run(ADDED, besideCalls(INDEX, fill));
      await until(() => isWaiting(ground, 'create index'), 'it waits for the writer');
      const other = run(ADDED, besideCalls(INDEX, fill));
      await makeCalls(store, account_id, 'index');
      await unlock();
      expect([(await migrating).applied, (await other).applied].flat()).to.deep.equal([
        '901-filled',
      ]);
      expect(sizes).to.have.length(3);
      await expectCharges(4 * CALLS);
      const left = await ground.place.sql('select 1 from requests where later is null');
      expect(left.length, 'rows of the calls after the last batch').to.be.below(CALLS + 1);
    });

    it('goes on where a fault broke it off, and changes no row twice', async () => {
      await fillRequests(ground, store);
      await run(ADDED);
      const broken = filling(async (batch) => {
        if (batch === 2) throw new Error('The disk is full.');
      });
      expect(await refusal(run(ADDED, besideCalls(INDEX, broken)))).to.contain('disk is full');
      const rest = await ground.place.sql('select 1 from requests where later is null');
      expect(rest).to.have.length(ROWS - 1_000);
      const migrating = run(ADDED, besideCalls(INDEX, filling()));
      expect((await migrating).applied).to.deep.equal(['901-filled']);
      expect(await ground.place.sql('select 1 from requests where later is null')).to.have.length(
        0,
      );
      expect((await run(ADDED, besideCalls(INDEX, filling()))).applied).to.deep.equal([]);
    });

    it('drops the invalid index of a broken try, and builds it again', async () => {
      await fillRequests(ground, store);
      const unique = { index: 'requests_endpoint', on: 'requests (endpoint)', is_unique: true };
      const state = () =>
        ground.place.sql(`select indisvalid as valid from pg_index
          where indexrelid = 'requests_endpoint'::regclass`);
      expect(await refusal(run(besideCalls(unique)))).to.match(/could not create unique index/u);
      expect(await state()).to.deep.equal([{ valid: false }]);
      await makeCalls(store, account_id, 'between');
      await ground.place.sql(`update requests set endpoint = id`);
      await run(besideCalls(unique));
      expect(await state()).to.deep.equal([{ valid: true }]);
    });

    it('gives up a table that others keep locked, so that no call waits behind it', async () => {
      const alter: Migration = {
        ...ADDED,
        up: (trx) => trx.schema.alterTable('accounts', (table) => void table.text('later')),
      };
      const unlock = await ground.place.lock('select 1 from accounts');
      const migrating = run(alter);
      await until(() => isWaiting(ground, 'alter table'), 'it waits for the table');
      await makeCalls(store, account_id, 'while it waits');
      await unlock();
      expect((await migrating).applied).to.deep.equal(['900-added']);
      await expectCharges(CALLS);
    });

    it('says after many tries that a table stays locked', async () => {
      const unlock = await ground.place.lock('select 1 from requests');
      const options = { migrations: [...MIGRATIONS, ADDED], lock_tries: 1 };
      const said = await refusal(migrate(ground.place.url, options));
      await unlock();
      expect(said).to.match(/^StoreError: A migration waited for a table .* keeps locked/u);
      expect((await migrate(ground.place.url, options)).applied).to.deep.equal(['900-added']);
    });
  },
  ['PostgreSQL'],
);
