import { existsSync } from 'node:fs';
import { sqliteFileOf, type Database } from './database.js';
import { isMigrated } from './migrate.js';
import { StoreError } from './store-error.js';

/** What a command says that needs a store where there is none. */
export function noStore(place: string): StoreError {
  return new StoreError(
    `There is no store yet: ${place}; "tollgate serve" makes one, ` +
      'or correct "store" in gateway.yaml',
  );
}

/** Throws `StoreError` where the file of a SQLite store is not there. */
export function refuseMissingFile(url: string): void {
  const file = sqliteFileOf(url);
  if (file !== undefined && !existsSync(file)) throw noStore(`${file} is not there`);
}

/** Throws `StoreError` where nobody has made a store in that database. */
export async function refuseEmpty(database: Database): Promise<void> {
  if (await isMigrated(database)) return;
  const place = database.dialect === 'sqlite' ? database.location : 'the PostgreSQL database';
  throw noStore(`${place} is empty`);
}
