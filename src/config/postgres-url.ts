const SCHEME = /^(?:jdbc:)?[a-z]{2,20}(?:\+\w{1,20})?[:;]?\/{0,3}/i;
const ADDRESS =
  /^(?:([\w.-]{1,80})(?::(.*))?@)?([\w.-]{1,200}(?::\d{1,5})?)\/([\w-]{1,80})(?:\?.*)?$/;

const TLS_MODE = /^(?:true|require|verify-ca|verify-full)$/;

/**
 * The PostgreSQL URL that a text in the form of another program means, with a variable in the place
 * of its password; undefined for a text that names no database.
 */
export function meantPostgres(text: string): string | undefined {
  const words = new Map(
    [...text.matchAll(/(?:^|[?&\s])(\w{1,20})=([\w.-]{1,200})/g)].map(([, key, value]) => [
      key,
      value,
    ]),
  );
  const [, url_user, url_password, url_host, url_database] =
    ADDRESS.exec(text.replace(SCHEME, '')) ?? [];
  const user = url_user ?? words.get('user');
  const host = url_host ?? words.get('host');
  const database = url_database ?? words.get('dbname');
  if (host === undefined || database === undefined) return undefined;
  const isKnown = url_password !== undefined || /[?&\s]password=/.test(text);
  const login = user === undefined ? '' : `${user}${isKnown ? ':${DB_PASSWORD}' : ''}@`;
  const port = words.has('port') ? `:${words.get('port')}` : '';
  // Without it, the connection would lose its TLS.
  const mode = words.get('sslmode') ?? words.get('ssl') ?? '';
  const tls = TLS_MODE.test(mode) ? `?sslmode=${mode === 'true' ? 'require' : mode}` : '';
  return `postgres://${login}${host}${port}/${database}${tls}`;
}
