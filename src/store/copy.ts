import type { Knex } from 'knex';
import { formatDollars, NANO_PER_DOLLAR } from '../lib/money.js';
import { toBinding } from './column-values.js';
import { isBusy, onSqlite, openDatabase, UNLIMITED, type Database } from './database.js';
import { imageBytes } from './images/hosted-images.js';
import { isServed } from './leases/leases.js';
import { applyMigrations, isMigrated, refuseOtherVersion } from './migrate.js';
import { refuseEmpty, refuseMissingFile } from './missing.js';
import { openSqliteFile } from './sqlite/sqlite-driver.js';
import { explainOpenError, StoreError } from './store-error.js';
import { verifyWithin } from './verify/verify.js';

/** A table whose rows and sums are equal in both stores. */
export interface CopiedTable {
  table: string;
  rows: number;
  /** The exact sum of each column of money, in dollars. */
  sums: Readonly<Record<string, string>>;
}

export interface CopyReport {
  tables: CopiedTable[];
  /** `missing` counts images without bytes, as in a backup: a link to one answers 404. */
  images: ImageCounts;
}

interface ImageCounts {
  copied: number;
  missing: number;
}

interface Side {
  database: Database;
  trx: Knex.Transaction;
}

type Row = Record<string, unknown>;

/** Migrations are counted in these. */
const OF_MIGRATIONS: readonly string[] = ['migrations', 'migrations_lock', 'store_contract'];
/** Other tables refer to these, so they are copied first. */
const PARENTS: readonly string[] = ['accounts', 'processes', 'tasks'];
const TABLES = {
  sqlite: `(select name from sqlite_schema
    where type = 'table' and name not like 'sqlite_%') as tables`,
  postgres: `(select tablename as name from pg_tables
    where schemaname = current_schema()) as tables`,
} as const;
const KEYS = {
  sqlite: '(select name, pk as position from pragma_table_info(?) where pk > 0) as keys',
  postgres: `(select attname as name, array_position(indkey::int2[], attnum) as position
    from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
    where indrelid = quote_ident(?)::regclass and indisprimary) as keys`,
} as const;

/** An empty store has one row here. */
const ROLL_UP = 'request_roll_up';
const REQUESTS = 'requests';
const IMAGES = 'hosted_images';

/** SQLite binds at most 32,766 values in one statement; PostgreSQL reads a list of rows as one. */
const BATCH_VALUES = { sqlite: 16_000, postgres: 64_000 } as const;
/** A row of these tables may have megabytes. */
const HEAVY: readonly string[] = [IMAGES, 'idempotency_keys', 'reconciliations'];
const HEAVY_ROWS = 8;

/**
 * Copies a store into an empty one, in one transaction that is committed only once the rows and
 * sums of both agree and `verify` finds no fault. Throws `StoreError`: then nothing was copied.
 */
export async function copyStore(from_url: string, to_url: string): Promise<CopyReport> {
  if ([from_url, to_url].every((url) => /^postgres(ql)?:/u.test(url))) {
    throw new StoreError('Both stores are PostgreSQL: pg_dump and pg_restore copy such a store.');
  }
  const from = await openSide('FROM', async () => {
    refuseMissingFile(from_url);
    return openDatabase(from_url);
  });
  try {
    await openSide('FROM', async () => {
      await refuseUsed(from);
      await refuseEmpty(from);
      await refuseOtherVersion(from);
    });
    const to = await openSide('TO', async () => openDatabase(to_url));
    try {
      await openSide('TO', async () => {
        await refuseUsed(to);
        await applyMigrations(to);
      });
      return await copyRows(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Says of which store an error is. */
async function openSide<T>(side: 'FROM' | 'TO', work: () => Promise<T>): Promise<T> {
  try {
    return await explainOpenError(work);
  } catch (error) {
    throw new StoreError(`${side}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Throws where another program may write the store. Whoever has a file of SQLite open keeps a lock
 * on it. Its rows do not tell: a backup has those of the processes that ran when it was made.
 */
async function refuseUsed(database: Database): Promise<void> {
  if (database.dialect === 'sqlite') {
    const file = database.location;
    if (!(await onSqlite(file, () => isOpenElsewhere(file)))) return;
    throw new StoreError(`Another program has ${file} open. Stop "tollgate serve" first.`);
  }
  if (!(await isMigrated(database)) || !(await isServed(database))) return;
  throw new StoreError(
    'The store is served. Stop "tollgate serve" everywhere first; a process that was killed on ' +
      'another machine counts for one more minute.',
  );
}

function isOpenElsewhere(file: string): boolean {
  const connection = openSqliteFile(file, { timeout: 1_000 });
  try {
    connection.pragma('locking_mode = exclusive');
    connection.exec('begin exclusive; rollback');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    connection.close();
  }
}

/** Any error becomes a `StoreError`, after which no transaction is tried again. */
async function copyRows(from: Database, to: Database): Promise<CopyReport> {
  const written: string[] = [];
  try {
    return await to.write(async (target) => {
      try {
        return await copyWithin(from, { database: to, trx: target }, written);
      } catch (error) {
        throw new StoreError(`Nothing was copied: ${messageOf(error)}`, { cause: error });
      }
    });
  } catch (error) {
    await imageBytes(to).remove(written);
    throw error;
  }
}

/** `written` collects the IDs of images whose bytes no transaction takes back. */
async function copyWithin(from: Database, to: Side, written: string[]): Promise<CopyReport> {
  await unlimit(to);
  const tables = await tableNames(to);
  if (to.database.dialect === 'postgres') {
    await to.trx.raw(`lock table ${tables.map(quoted).join(', ')} in exclusive mode`);
  }
  await refuseFull(to, tables);
  await to.trx(ROLL_UP).delete();
  const { report, last } = await from.snapshot(async (trx) => {
    const source = { database: from, trx };
    await unlimit(source);
    for (const table of tables) await copyTable(table, source, to);
    const images = await copyImages(source, to, written);
    const copied = await compareTables(tables, source, to);
    return { report: { tables: copied, images }, last: await lastEntries(trx) };
  });
  await setSequences(to);
  const { faults } = await verifyWithin(to.trx);
  if (faults[0] !== undefined) throw new StoreError(`the store does not add up: ${faults[0]}`);
  if ((await from.read(lastEntries)) !== last) {
    throw new StoreError('FROM was changed while it was copied. Stop what uses it.');
  }
  return report;
}

/** Takes the time limits of a transaction: one side waits while the other one works. */
async function unlimit({ database, trx }: Side): Promise<void> {
  if (database.dialect === 'sqlite') return;
  await trx.raw(UNLIMITED);
  await trx.raw('set local idle_in_transaction_session_timeout = 0');
}

async function tableNames({ database, trx }: Side): Promise<string[]> {
  const rows: { name: string }[] = await trx
    .from(trx.raw(TABLES[database.dialect]))
    .orderBy('name')
    .select('name');
  const names = rows.map(({ name }) => name).filter((name) => !OF_MIGRATIONS.includes(name));
  return [...PARENTS, ...names.filter((name) => !PARENTS.includes(name))];
}

async function refuseFull({ trx }: Side, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    if (table === ROLL_UP || !(await trx(table).first(trx.raw('1')))) continue;
    throw new StoreError(`TO is not empty: it has rows in "${table}". Name an empty store.`);
  }
}

async function copyTable(table: string, from: Side, to: Side): Promise<void> {
  const info = await to.trx(table).columnInfo();
  const columns = Object.keys(info).filter((name) => !isOfBytes(table, name));
  const key = await keyOf(table, from);
  const size = HEAVY.includes(table)
    ? HEAVY_ROWS
    : Math.floor(BATCH_VALUES[to.database.dialect] / columns.length);
  const renumber = await renumberer(table, from, to);
  let last: Row | undefined;
  for (;;) {
    const query = from.trx(table).orderBy(key).limit(size).select(columns);
    if (last) {
      const places = key.map(() => '?').join(', ');
      const names = key.map(quoted).join(', ');
      void query.whereRaw(`(${names}) > (${places})`, valuesOf(last, key));
    }
    const rows: Row[] = await query;
    if (rows.length > 0) await insertRows(to, table, columns, rows.map(renumber));
    if (rows.length < size) return;
    last = rows.at(-1);
  }
}

/** PostgreSQL has the bytes of images in a column, SQLite beside its file. */
function isOfBytes(table: string, column: string): boolean {
  return table === IMAGES && column === 'data';
}

/** The columns by which all rows of a table can be told apart and sorted. */
async function keyOf(table: string, { database, trx }: Side): Promise<string[]> {
  // In PostgreSQL records may share a number, and no key is primary.
  if (table === REQUESTS) return ['seq', 'id'];
  const rows: { name: string }[] = await trx
    .from(trx.raw(KEYS[database.dialect], [table]))
    .orderBy('position')
    .select('name');
  return rows.map(({ name }) => name);
}

/**
 * The numbers of records, and the last one in the totals, are those of their own database:
 * PostgreSQL leaves gaps, gives some twice and begins higher than SQLite can count on from. SQLite
 * gets new ones in the same order.
 */
async function renumberer(table: string, from: Side, to: Side): Promise<(row: Row) => Row> {
  const isOther = from.database.dialect === 'postgres' && to.database.dialect === 'sqlite';
  if (isOther && table === ROLL_UP) {
    const rolled: { count: bigint } = await from
      .trx(REQUESTS)
      .where('seq', '<=', from.trx(ROLL_UP).select('upto'))
      .first(from.trx.raw('count(*) as count'));
    return (row) => ({ ...row, upto: rolled.count });
  }
  if (!isOther || table !== REQUESTS) return (row) => row;
  let seq = 0;
  return (row) => ({ ...row, seq: (seq += 1) });
}

async function insertRows(
  { database, trx }: Side,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const names = columns.map(quoted).join(', ');
  if (database.dialect === 'postgres') {
    // One value to bind for many rows: the driver takes long for each.
    await trx.raw(
      `insert into ${quoted(table)} (${names})
       select ${names} from json_populate_recordset(null::${quoted(table)}, ?::json)`,
      [JSON.stringify(rows, digitsOf)],
    );
    return;
  }
  const places = `(${columns.map(() => '?').join(', ')})`;
  await trx.raw(
    `insert into ${quoted(table)} (${names}) values ${rows.map(() => places).join(', ')}`,
    rows.flatMap((row) => valuesOf(row, columns)),
  );
}

/** PostgreSQL reads the digits of a text as a number too. */
function digitsOf(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Each database reads the digits of numbers, and 0 and 1 as booleans, by the type of a column. */
function valuesOf(row: Row, columns: readonly string[]): Knex.RawBinding[] {
  return columns.map((name) => {
    const value = row[name];
    if (typeof value === 'bigint') return toBinding(value);
    return typeof value === 'boolean' ? Number(value) : (value as Knex.RawBinding);
  });
}

function quoted(name: string): string {
  return `"${name}"`;
}

/** Copies the bytes of one image at a time. */
async function copyImages(from: Side, to: Side, written: string[]): Promise<ImageCounts> {
  const counts = { copied: 0, missing: 0 };
  const [kept, coming] = [imageBytes(from.database), imageBytes(to.database)];
  const rows: { id: string; size_bytes: bigint }[] = await from
    .trx(IMAGES)
    .select('id', 'size_bytes');
  for (const { id, size_bytes } of rows) {
    const data = await kept.get(id);
    if (data?.length !== Number(size_bytes)) {
      counts.missing += 1;
      continue;
    }
    counts.copied += 1;
    if (to.database.dialect === 'postgres') await to.trx(IMAGES).where({ id }).update({ data });
    else {
      written.push(id);
      await coming.put(id, data);
    }
  }
  return counts;
}

async function compareTables(
  tables: readonly string[],
  from: Side,
  to: Side,
): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    const one = await countTable(table, from, to);
    const other = await countTable(table, to, to);
    if (JSON.stringify(one) !== JSON.stringify(other)) {
      throw new StoreError(
        `the table "${table}" differs: ${wordsOf(one)} became ${wordsOf(other)}`,
      );
    }
    copied.push(one);
  }
  return copied;
}

function wordsOf({ rows, sums }: CopiedTable): string {
  return `${rows} rows ${JSON.stringify(sums)}`;
}

/** The columns are those of `to`. No sum of a part can be larger than its column. */
async function countTable(table: string, side: Side, to: Side): Promise<CopiedTable> {
  const { trx } = side;
  const names = Object.keys(await to.trx(table).columnInfo()).filter((name) =>
    name.endsWith('_nano'),
  );
  const parts = names.flatMap((name) => [
    trx.raw(`cast(coalesce(sum(${name} / ${NANO_PER_DOLLAR}), 0) as bigint) as ${name}_dollars`),
    trx.raw(`cast(coalesce(sum(${name} % ${NANO_PER_DOLLAR}), 0) as bigint) as ${name}_rest`),
  ]);
  const row: Record<string, bigint> = await trx(table).first(trx.raw('count(*) as n'), ...parts);
  const sums = names.map((name) => {
    const nano = (row[`${name}_dollars`] ?? 0n) * NANO_PER_DOLLAR + (row[`${name}_rest`] ?? 0n);
    return [name.replace(/_nano$/u, ''), formatDollars(nano)];
  });
  return { table, rows: Number(row.n), sums: Object.fromEntries(sums) as CopiedTable['sums'] };
}

/** SQLite goes on from the highest ID by itself. */
async function setSequences({ database, trx }: Side): Promise<void> {
  if (database.dialect === 'sqlite') return;
  const numbered: { table: string; name: string }[] = await trx('information_schema.columns')
    .whereRaw('table_schema = current_schema()')
    .where('column_default', 'like', 'nextval(%')
    .select('table_name as table', 'column_name as name');
  for (const { table, name } of numbered) {
    await trx(table).select(
      trx.raw(`setval(pg_get_serial_sequence(?, ?), max(${quoted(name)}))`, [quoted(table), name]),
    );
  }
}

/** Each charge and each change adds an entry to one of these tables. */
async function lastEntries(knex: Knex): Promise<string> {
  const rows: { last: bigint | null }[] = await Promise.all(
    ['ledger', 'audit'].map((table) => knex(table).first(knex.raw('max(id) as last'))),
  );
  return rows.map(({ last }) => String(last)).join(' ');
}

/** The first line of an error. Knex writes the statement, with its values, before it. */
function messageOf(error: unknown): string {
  if (error instanceof StoreError) return error.message;
  const text = error instanceof Error ? error.message : String(error);
  const [line = ''] = text
    .slice(text.lastIndexOf(' - ') + 1)
    .trim()
    .split('\n');
  return line.replace(/^- /u, '');
}
