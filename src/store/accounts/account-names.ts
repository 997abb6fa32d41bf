import { existsSync } from 'node:fs';
import { openDatabase } from '../database.js';
import { accounts } from './accounts.js';

/**
 * The names of some accounts of a SQLite store, without bringing the store to this version: it only
 * reads. A store that is not there has none, and a PostgreSQL is not asked.
 */
export async function accountNames(url: string, limit: number): Promise<string[]> {
  if (!url.startsWith('sqlite:') || !existsSync(url.slice('sqlite:'.length))) return [];
  const database = openDatabase(url);
  try {
    return (await accounts(database, { limit })).map(({ name }) => name);
  } finally {
    await database.close();
  }
}
