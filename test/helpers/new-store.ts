import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Client } from 'pg';
import { openDatabase } from '../../src/store/database.js';
import { applyMigrations } from '../../src/store/migrate.js';
import { openStore } from '../../src/store/open.js';

let migrated: Promise<Buffer> | undefined;

/**
 * Writes a new SQLite store without data where there is no file yet. Its migrations, which take
 * longer than most tests, run once in a process.
 */
export async function writeNewStore(file: string): Promise<void> {
  if (await stat(file).catch(() => undefined)) return;
  const bytes = await (migrated ??= migratedFile());
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, bytes, { mode: 0o600 });
}

async function migratedFile(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-new-store-'));
  try {
    const file = join(folder, 'tollgate.db');
    const store = await openStore(`sqlite:${file}`, { now: Date.now });
    await store.close();
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Statement {
  sql: string;
  bindings?: unknown[];
}

let recorded: Statement[] | undefined;

/** Brings an empty schema of PostgreSQL up to date, by the statements that did so before. */
export async function migrateSchema(client: Client, url: string): Promise<void> {
  if (!recorded) {
    recorded = await recordMigrations(url);
    return;
  }
  await client.query('begin');
  for (const { sql, bindings } of recorded) await client.query(sql, bindings);
  await client.query('commit');
}

async function recordMigrations(url: string): Promise<Statement[]> {
  const statements: Statement[] = [];
  const database = openDatabase(url);
  try {
    await database.read(async (knex) => knex.on('query', (one: Statement) => statements.push(one)));
    await applyMigrations(database);
  } finally {
    await database.close();
  }
  // Those of its transaction, and its looks at what is there, are its own.
  return statements.filter(
    ({ sql }) => !/^(?:begin|commit|savepoint|release|select)\b/iu.test(sql),
  );
}
