import { existsSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Database } from '../database.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../owner-only.js';
import { isPossible, isTrue } from '../column-values.js';
import { excessOf, type Excess, type Weight } from '../eviction.js';

/** Until when an image is kept, in ms since 1970, and how many bytes all of them may use. */
export interface HostingTerms {
  due_ms: number;
  total_bytes: number;
  /** The account that made it; null if unknown. */
  account_id: string | null;
  /** The image cost nothing. Free images share a small part of `total_bytes`. */
  free: boolean;
}

/** A kept image, which is served until `due_ms` (Unix). */
export interface HostedImage {
  bytes: Buffer;
  due_ms: number;
}

/** Images kept for a while, so that clients can fetch them by URL. */
export interface HostedImageStore {
  /** Stores an image. Evicts the oldest images of the account with the most bytes to make room. */
  keep(id: string, bytes: Uint8Array, terms: HostingTerms): Promise<void>;
  /** Undefined if there is no such image, or if it has expired. */
  image(id: string): Promise<HostedImage | undefined>;
  /** Removes expired images. Resolves with their number. */
  sweep(): Promise<number>;
}

/** Stores the bytes of images. All other columns are in the table, on both databases. */
export interface ImageBytes {
  put(id: string, bytes: Uint8Array): Promise<void>;
  get(id: string): Promise<Buffer | undefined>;
  remove(ids: readonly string[]): Promise<void>;
}

/**
 * The hosted images of a database. Beside SQLite the bytes are files of their own, because a commit
 * of megabytes would block all others. PostgreSQL stores them itself, so that every process can
 * serve them.
 */
export function openHostedImages(database: Database, now: () => number): HostedImageStore {
  const files = imageBytes(database);
  return {
    keep: async (id, bytes, terms) => {
      // The row comes first: the sweep finds every file by its row, also after a crash.
      const evicted = await database.write((trx) => enter(trx, id, bytes.length, terms));
      await files.remove(evicted);
      await files.put(id, bytes);
    },
    image: async (id) => {
      if (!isPossible(id)) return undefined;
      const row = await database.read<Row | undefined>((knex) =>
        knex('hosted_images').where({ id }).first('id', 'size_bytes', 'due_ms'),
      );
      if (!row || Number(row.due_ms) <= now()) return undefined;
      const bytes = await files.get(id);
      // A file that was only partly written counts as missing.
      const isWhole = bytes?.length === Number(row.size_bytes);
      return isWhole ? { bytes, due_ms: Number(row.due_ms) } : undefined;
    },
    sweep: async () => {
      const ids = await database.read<Row[]>((knex) =>
        knex('hosted_images').where('due_ms', '<=', now()).select('id'),
      );
      return removeAll(database, files, ids);
    },
  };
}

/** The bytes of the images whose rows a database has. */
export function imageBytes(database: Database): ImageBytes {
  return database.dialect === 'sqlite' ? inFolder(database) : inTable(database);
}

interface Owned {
  account_id: string | null;
  free: unknown;
  size_bytes: bigint;
}

interface Row {
  id: string;
  size_bytes: bigint;
  due_ms: bigint;
}

/** Inserts the row. Resolves with the IDs of the images that were evicted to make room. */
async function enter(
  trx: Knex.Transaction,
  id: string,
  size_bytes: number,
  { due_ms, total_bytes, account_id, free }: HostingTerms,
): Promise<string[]> {
  const evicted: string[] = [];
  const kept = await weights(trx);
  const coming = { account_id, free, bytes: size_bytes };
  for (;;) {
    const excess = excessOf([...kept, coming], total_bytes);
    if (!excess) break;
    // The new image may be the only one of its account: then other accounts make room.
    const others = excessOf(kept, Math.max(0, total_bytes - size_bytes));
    const row = (await oldestOf(trx, excess)) ?? (others && (await oldestOf(trx, others)));
    if (!row) break;
    await trx('hosted_images').where({ id: row.id }).delete();
    evicted.push(row.id);
    const weight = kept.find((one) => one.account_id === row.account_id && one.free === row.free);
    if (weight) weight.bytes -= Number(row.size_bytes);
  }
  await trx('hosted_images').insert({ id, size_bytes, due_ms, account_id, free });
  return evicted;
}

async function weights(trx: Knex.Transaction): Promise<Weight[]> {
  const rows = await trx('hosted_images')
    .groupBy('account_id', 'free')
    .select<Owned[]>('account_id', 'free', trx.raw('sum(size_bytes) as size_bytes'));
  return rows.map(({ account_id, free, size_bytes }) => ({
    account_id,
    free: isTrue(free),
    bytes: Number(size_bytes),
  }));
}

async function oldestOf(trx: Knex.Transaction, { account_id, only_free }: Excess) {
  const row = await trx('hosted_images')
    .where({ account_id, ...(only_free && { free: true }) })
    .orderBy(['due_ms', 'id'])
    .first<(Row & Owned) | undefined>('id', 'size_bytes', 'account_id', 'free');
  return row && { ...row, free: isTrue(row.free) };
}

/** The bytes go first: a row that is left is swept again, a file that is left would stay. */
async function removeAll(
  database: Database,
  files: ImageBytes,
  rows: readonly Row[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await files.remove(ids);
  await database.write(async (trx) => {
    for (const id of ids) await trx('hosted_images').where({ id }).delete();
  });
  return ids.length;
}

function inFolder({ location }: Database): ImageBytes {
  const folder = `${location}-images`;
  adopt(`${location}-pictures`, folder);
  return {
    put: async (id, bytes) => {
      await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
      // An older version created the folder readable for all users.
      await chmod(folder, PRIVATE_FOLDER);
      await writeFile(join(folder, id), bytes, { mode: PRIVATE_FILE });
      await chmod(join(folder, id), PRIVATE_FILE);
    },
    get: (id) => readFile(join(folder, id)).catch(unlessMissing),
    remove: async (ids) => {
      for (const id of ids) await rm(join(folder, id), { force: true });
    },
  };
}

/**
 * Takes over the folder of an older version. Both folders exist if that version ran again, on a
 * backup that was restored: then its files are moved one by one.
 */
function adopt(old: string, folder: string): void {
  if (!existsSync(old)) return;
  try {
    if (!existsSync(folder)) return renameSync(old, folder);
    for (const name of readdirSync(old)) renameSync(join(old, name), join(folder, name));
    rmdirSync(old);
  } catch (error) {
    // Another process that opens the store at the same time is faster.
    unlessMissing(error);
  }
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

function inTable(database: Database): ImageBytes {
  return {
    put: async (id, bytes) => {
      const data = Buffer.from(bytes);
      await database.read((knex) => knex('hosted_images').where({ id }).update({ data }));
    },
    get: async (id) => {
      const row = await database.read<{ data: Buffer | null } | undefined>((knex) =>
        knex('hosted_images').where({ id }).first('data'),
      );
      return row?.data ?? undefined;
    },
    // The bytes are deleted with their rows.
    remove: () => Promise.resolve(),
  };
}
