import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { openStore } from '../../../src/store/open.js';
import { PostgresSchema } from './postgres-schema.js';

describe('a schema of PostgreSQL that goes from test to test', () => {
  const base = process.env.TOLLGATE_TEST_POSTGRES ?? '';
  let schema: PostgresSchema;
  let url: string;

  beforeEach(async function () {
    if (base === '') return this.skip();
    const name = `tollgate_${randomUUID().replaceAll('-', '')}`;
    const at = new URL(base);
    at.searchParams.set('options', `-c search_path=${name}`);
    url = at.href;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    schema = new PostgresSchema(client);
    await schema.create(name);
    await schema.migrate(url);
  });
  afterEach(async () => {
    if (base !== '') await schema.drop();
  });

  /** Every row and the place of every sequence. */
  async function contents(): Promise<Record<string, unknown>> {
    const { rows } = await schema.client.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = current_schema()::regnamespace and relkind in ('r', 'S')`,
    );
    const found: Record<string, unknown> = {};
    for (const { name } of rows) {
      const { rows: all } = await schema.client.query(`select * from ${name}`);
      found[name] = all.map((row: Record<string, unknown>) => ({ ...row, log_cnt: undefined }));
    }
    return found;
  }

  it('has the rows and the sequences of a new one again', async () => {
    const before = await contents();
    const store = await openStore(url, { now: () => 1_800_000_000_000 });
    const { id } = await store.createAccount('acme', 10n ** 9n);
    await store.createKey(id, 'k');
    await store.close();
    expect(await contents()).not.to.deep.equal(before);
    expect(await schema.isMadeNew()).to.equal(true);
    expect(await contents()).to.deep.equal(before);
  });

  for (const change of [
    'alter table accounts add column more text',
    'alter table accounts alter column name drop not null',
    'create index more on accounts (name)',
    'create function more() returns integer language sql as $$ select 1 $$',
  ]) {
    it(`is not used again after: ${change}`, async () => {
      await schema.client.query(change);
      expect(await schema.isMadeNew()).to.equal(false);
    });
  }
});
