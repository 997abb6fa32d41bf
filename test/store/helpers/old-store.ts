import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import knex, { type Knex } from 'knex';
import { sqliteClient } from '../../../src/store/sqlite/sqlite-driver.js';
import { MIGRATIONS } from '../../../src/store/migrations.js';
import type { Ground } from './ground.js';

/** Brings a database as far as that migration, and returns the statements that changed rows. */
export async function migrateTo(
  { dialect, url }: Pick<Ground['place'], 'dialect' | 'url'>,
  last: string,
): Promise<string[]> {
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
      getMigration: ({ up }) => Promise.resolve({ up, down: up }),
    } satisfies Knex.MigrationSource<(typeof some)[number]>,
  });
  await database.destroy();
  return statements;
}
