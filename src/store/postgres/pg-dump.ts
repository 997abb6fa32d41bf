import { pastPooler, type StorePlace } from '../../core/store-place.js';
import { shellWord } from '../../lib/shell-quote.js';
import { hostsOfUrl } from './postgres-place.js';

/**
 * The shell line that backs up a database of PostgreSQL, past a pooler where there is one. It has
 * no password: `pg_dump` asks for it, or takes `PGPASSWORD` or `~/.pgpass`.
 */
export function pgDumpCommand(place: StorePlace, file: string): string {
  const { url: store, ca } = pastPooler(place);
  const { urls } = hostsOfUrl(store);
  const url = new URL(urls[0] ?? store);
  url.password = '';
  url.searchParams.delete('password');
  if (ca !== undefined) {
    url.searchParams.set('sslmode', 'verify-full');
    url.searchParams.set('sslrootcert', ca);
  }
  // `pg_dump` tries several hosts too, and any of them will do.
  const hosts = urls.map((one) => new URL(one).host).join(',');
  const dbname = url.href.replace(`${url.host}/`, `${hosts}/`);
  return (
    `pg_dump --format=custom --file=${shellWord(file)} ` +
    `--no-owner --dbname=${shellWord(dbname)}`
  );
}
