import type { Knex } from 'knex';
import { openDatabase, UNLIMITED, type Database } from './database.js';
import { explainOpenError, StoreError } from './store-error.js';
import { MIGRATIONS } from './migrations.js';

const TABLE = 'migrations';

/** An arbitrary number, the same in every Tollgate on one PostgreSQL. */
const ADVISORY_LOCK = 7_012_018;

const CONFIG = {
  tableName: TABLE,
  migrationSource: {
    getMigrations: async () => MIGRATIONS.map(({ name }) => name),
    getMigrationName: (name: string) => name,
    getMigration: async (name: string) => ({ up: find(name).up, down: refuse }),
  },
};

/**
 * Applies the pending migrations to the database, and resolves with their names. Throws
 * `StoreError` if it cannot be opened or is of a newer version.
 */
export async function migrate(url: string): Promise<{ applied: string[] }> {
  return explainOpenError(async () => {
    const database = openDatabase(url);
    try {
      return { applied: await applyMigrations(database) };
    } finally {
      await database.close();
    }
  });
}

/**
 * All pending migrations in one transaction under one lock: processes that start together take
 * turns, and a kill half-way leaves nothing behind, knex's own lock row included.
 */
export async function applyMigrations(database: Database): Promise<string[]> {
  return database.write(async (trx) => {
    if (database.dialect === 'postgres') {
      await trx.raw(UNLIMITED);
      await trx.raw('select pg_advisory_xact_lock(?)', [ADVISORY_LOCK]);
    }
    await refuseNewer(trx);
    const [, applied]: [number, string[]] = await trx.migrate.latest(CONFIG);
    return applied;
  });
}

/** Whether a store was made in that database, by any version. */
export function isMigrated(database: Database): Promise<boolean> {
  return database.read((knex) => knex.schema.hasTable(TABLE));
}

/**
 * The names of the migrations in which the database and this version differ: those that it lacks,
 * and those that only a newer version knows.
 */
export async function differingMigrations(database: Database): Promise<string[]> {
  return database.read(async (knex) => {
    const known = MIGRATIONS.map(({ name }) => name);
    const rows: { name: string }[] = await knex(TABLE).select('name').orderBy('id');
    const applied = rows.map(({ name }) => name);
    return [
      ...known.filter((name) => !applied.includes(name)),
      ...applied.filter((name) => !known.includes(name)),
    ];
  });
}

/** Throws `StoreError` where the store is not of this version. */
export async function refuseOtherVersion(database: Database): Promise<void> {
  await database.read(refuseNewer);
  if ((await differingMigrations(database)).length === 0) return;
  throw new StoreError(
    'The store is of an older version of Tollgate: "tollgate migrate" brings it to this one, ' +
      'and so does "tollgate serve".',
  );
}

async function refuseNewer(trx: Knex): Promise<void> {
  if (!(await trx.schema.hasTable(TABLE))) return;
  const applied: { name: string }[] = await trx(TABLE).select('name').orderBy('id');
  const unknown = applied.find(({ name }) => !MIGRATIONS.some((known) => known.name === name));
  if (!unknown) return;
  throw new StoreError(
    `The store is of a newer version of Tollgate: it has the migration "${unknown.name}", ` +
      'which this version does not know. Run that version, or a newer one.',
  );
}

function find(name: string): (typeof MIGRATIONS)[number] {
  const migration = MIGRATIONS.find((known) => known.name === name);
  if (!migration) throw new StoreError(`There is no migration "${name}".`);
  return migration;
}

async function refuse(): Promise<void> {
  throw new StoreError('Migrations are not undone; restore a backup instead.');
}
