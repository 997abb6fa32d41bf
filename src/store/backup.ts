import { placeOfStore, type StorePlace } from '../core/store-place.js';
import { pgDumpCommand } from './postgres/pg-dump.js';
import type { BackupOptions, BackupReport } from './sqlite/sqlite-backup.js';
import { StoreError } from './store-error.js';

const SQLITE = 'sqlite:';

/**
 * Backs up the store of a checked place, or of its URL, into a file. SQLite is copied, as
 * `backupSqlite` says. For PostgreSQL a `StoreError` names the command of PostgreSQL's own tool.
 */
export async function backupStore(
  at: StorePlace | string,
  target: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  const place = placeOfStore(at);
  if (!place.url.startsWith(SQLITE)) {
    throw new StoreError(
      `The store is PostgreSQL, which its own tool backs up: ${pgDumpCommand(place, target)}`,
    );
  }
  const { backupSqlite } = await import('./sqlite/sqlite-backup.js');
  return backupSqlite(place.url.slice(SQLITE.length), target, options);
}
