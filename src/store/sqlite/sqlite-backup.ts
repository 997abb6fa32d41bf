import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, lstatSync, openSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { openDatabase, type Database } from '../database.js';
import { versionFault } from '../migrate.js';
import { noStore } from '../missing.js';
import { PRIVATE_FILE } from '../owner-only.js';
import { codeOf } from '../retry.js';
import { StoreError } from '../store-error.js';
import { openSqliteFile } from './sqlite-driver.js';
import { sqliteFault } from './sqlite-fault.js';
import { verify, verifyBalances } from '../verify/verify.js';

export interface BackupOptions {
  /** Replaces a file that is there. */
  force?: boolean;
  /** Aborting it ends the backup, and leaves nothing behind. */
  signal?: AbortSignal;
}

/** What the finished backup holds, counted in the backup itself. */
export interface BackupReport {
  /** The absolute path. */
  file: string;
  bytes: number;
  accounts: number;
  entries: number;
  open_holds: number;
}

/** 4 MB between two turns of the event loop, at which a signal is seen. */
const STEP_PAGES = 1_024;

/**
 * Copies the database `store` to `target` as it is at one moment, also beside a running `serve`.
 * The copy is written beside the target, synced, checked and only then renamed, so `target` never
 * holds half a backup. Throws `StoreError`.
 */
export async function backupSqlite(
  store: string,
  target: string,
  { force = false, signal }: BackupOptions,
): Promise<BackupReport> {
  const file = resolve(target);
  try {
    return await makeBackup(store, file, { force, signal });
  } catch (error) {
    if (error instanceof StoreError || error === signal?.reason) throw error;
    throw new StoreError(`No backup was made: ${reasonOf(error, store, file)}`, { cause: error });
  }
}

/** Names the file whose fault it is: only the copy is written. */
function reasonOf(error: unknown, store: string, file: string): string {
  if (!(error instanceof Error)) return String(error);
  const isOfCopy = 'path' in error || codeOf(error) === 'SQLITE_FULL';
  const fault = sqliteFault(isOfCopy ? file : store, error);
  return firstLine(fault instanceof Error ? fault.message : error.message);
}

async function makeBackup(
  store: string,
  file: string,
  { force, signal }: { force: boolean; signal: AbortSignal | undefined },
): Promise<BackupReport> {
  if (!statSync(store, { throwIfNoEntry: false })?.isFile()) {
    throw noStore(`${store} is not there`);
  }
  refuseTarget(store, file, force);
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    closeSync(openSync(partial, 'wx', PRIVATE_FILE));
    await copy(store, partial, signal);
    const counts = await prove(partial);
    sync(partial);
    signal?.throwIfAborted();
    refuseTarget(store, file, force);
    await rename(partial, file);
    sync(dirname(file));
    return { file, bytes: statSync(file).size, ...counts };
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) await rm(partial + end, { force: true });
  }
}

/**
 * One read transaction spans all steps. Writers go on beside it, and their commits do not make the
 * copy begin anew, as they would between steps without one.
 */
async function copy(
  store: string,
  partial: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const source = openSqliteFile(store, { readonly: true, timeout: 5_000 });
  try {
    source.exec('begin');
    source.prepare('select count(*) from sqlite_schema').get();
    await source.backup(partial, {
      progress: () => {
        signal?.throwIfAborted();
        return STEP_PAGES;
      },
    });
  } finally {
    source.close();
  }
}

/** Reads the whole copy: its pages, and what its ledger adds up to. */
async function prove(partial: string): Promise<Omit<BackupReport, 'file' | 'bytes'>> {
  const database = openDatabase(`sqlite:${partial}`);
  try {
    const pages: { integrity_check: string }[] = await database.read((knex) =>
      knex.raw('pragma integrity_check'),
    );
    const [{ integrity_check: state } = { integrity_check: 'no answer' }] = pages;
    if (state !== 'ok') {
      throw new StoreError(`No backup was made: the store is damaged: ${firstLine(state)}.`);
    }
    return await proveBalances(database);
  } finally {
    await database.close();
  }
}

/** A store that another version made is held to what all versions have: balances and ledger. */
async function proveBalances(
  database: Database,
): Promise<Pick<BackupReport, 'accounts' | 'entries' | 'open_holds'>> {
  const isOurs = (await versionFault(database)) === undefined;
  const report = await (isOurs ? verify(database) : verifyBalances(database));
  const { accounts, entries, open_holds, faults } = report;
  const [fault] = faults;
  if (fault === undefined) return { accounts, entries, open_holds };
  throw new StoreError(`No backup was made: the store does not add up: ${fault}`);
}

/** Throws where the target is the store itself, cannot be replaced, or must not be. */
function refuseTarget(store: string, file: string, force: boolean): void {
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreError(`There is no folder ${dirname(file)}.`);
  }
  const found = statSync(file, { throwIfNoEntry: false });
  const live = ['', '-wal', '-shm', '-journal'].map((end) => store + end);
  if (live.some((path) => path === file || isSame(path, file))) {
    throw new StoreError(`${file} belongs to the store itself. Name another file.`);
  }
  if (found?.isDirectory()) throw new StoreError(`${file} is a folder. Name a file in it.`);
  if (existsSync(`${file}-wal`)) {
    throw new StoreError(
      `${file}-wal is there: a program has ${file} open, or was killed while it had. ` +
        'Name another file.',
    );
  }
  if (force || lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  throw new StoreError(`${file} is there already; --force replaces it.`);
}

function isSame(path: string, other: string): boolean {
  const [one, two] = [path, other].map((name) => statSync(name, { throwIfNoEntry: false }));
  return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
