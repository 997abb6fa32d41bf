import { pgDumpCommand } from './postgres/pg-dump.js';
import type { BackupOptions, BackupReport } from './sqlite/sqlite-backup.js';
import { StoreError } from './store-error.js';

const SQLITE = 'sqlite:';

/**
 * Backs up the store behind a checked URL into a file. SQLite is copied, as `backupSqlite` says.
 * For PostgreSQL a `StoreError` names the command of PostgreSQL's own tool.
 */
export async function backupStore(
  url: string,
  target: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  if (!url.startsWith(SQLITE)) {
    throw new StoreError(
      `The store is PostgreSQL, which its own tool backs up: ${pgDumpCommand(url, target)}`,
    );
  }
  const { backupSqlite } = await import('./sqlite/sqlite-backup.js');
  return backupSqlite(url.slice(SQLITE.length), target, options);
}
