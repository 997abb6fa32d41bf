import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { sqliteClient } from '../../../src/store/sqlite/sqlite-driver.js';
import { takeSteps } from '../../../src/store/migration-steps.js';
import { MIGRATIONS } from '../../../src/store/migrations.js';
import type { Ground } from './ground.js';

type Place = Pick<Ground['place'], 'dialect' | 'url'>;

/** Removes all that a database has. */
export async function emptyPlace({ dialect, url }: Place): Promise<void> {
  const file = url.replace('sqlite:', '');
  if (dialect === 'sqlite') {
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>('select current_schema() as name');
  await client.query(`drop schema ${rows[0]?.name} cascade; create schema ${rows[0]?.name}`);
  await client.end();
}

/** Brings a database as far as that migration, and returns the statements that changed rows. */
export async function migrateTo({ dialect, url }: Place, last: string): Promise<string[]> {
  const file = url.replace('sqlite:', '');
  if (dialect === 'sqlite') mkdirSync(dirname(file), { recursive: true });
  const database = knex(
    dialect === 'sqlite'
      ? { client: sqliteClient(), connection: file, useNullAsDefault: true }
      : { client: 'pg', connection: url },
  );
  const statements: string[] = [];
  database.on('query', ({ sql }: { sql: string }) => {
    if (/^(insert|update|delete)\b(?!.*\bmigrations(_lock)?\b)/isu.test(sql)) statements.push(sql);
  });
  const some = MIGRATIONS.slice(0, MIGRATIONS.findIndex(({ name }) => name === last) + 1);
  await database.migrate.latest({
    tableName: 'migrations',
    migrationSource: {
      getMigrations: () => Promise.resolve(some),
      getMigrationName: ({ name }) => name,
      getMigration: (migration) => {
        const up = migration.up ?? ((trx: Knex): Promise<void> => takeSteps(trx, migration.steps));
        return Promise.resolve({ up, down: up });
      },
    } satisfies Knex.MigrationSource<(typeof some)[number]>,
  });
  await database.destroy();
  return statements;
}
