import { shellWord } from '../../lib/shell-quote.js';
import { placeOf } from './postgres-place.js';

/**
 * The shell line that backs up a database of PostgreSQL. It has no password: `pg_dump` asks for it,
 * or takes `PGPASSWORD` or `~/.pgpass`.
 */
export function pgDumpCommand(store: string, file: string): string {
  const { urls } = placeOf(store);
  const url = new URL(urls[0] ?? store);
  url.password = '';
  url.searchParams.delete('password');
  // `pg_dump` tries several hosts too, and any of them will do.
  const hosts = urls.map((one) => new URL(one).host).join(',');
  const dbname = url.href.replace(`${url.host}/`, `${hosts}/`);
  return (
    `pg_dump --format=custom --file=${shellWord(file)} ` +
    `--no-owner --dbname=${shellWord(dbname)}`
  );
}
