import { shellWord } from '../../lib/shell-quote.js';

/**
 * The shell line that backs up a database of PostgreSQL. It has no password: `pg_dump` asks for it,
 * or takes `PGPASSWORD` or `~/.pgpass`.
 */
export function pgDumpCommand(store: string, file: string): string {
  const url = new URL(store);
  url.password = '';
  url.searchParams.delete('password');
  return (
    `pg_dump --format=custom --file=${shellWord(file)} ` +
    `--no-owner --dbname=${shellWord(url.href)}`
  );
}
