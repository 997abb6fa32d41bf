import { StoreError } from '../store-error.js';

/** What a `store:` on PostgreSQL says. */
export interface PostgresPlace {
  /** A URL for each host, in the order in which they are tried. */
  urls: readonly string[];
  /** Whether a host is left out that takes no writes: a standby, until it is promoted. */
  must_write: boolean;
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/u;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/iu;
const MAX_PORT = 65_535;

const SESSION = 'target_session_attrs';
/** The words of libpq by which a host can be found that the gateway can work with. */
export const SESSION_WORDS: readonly string[] = ['read-write', 'primary', 'any'];

/** The word of a URL; undefined if it has none. */
export function sessionWordOf(text: string): string | undefined {
  return new URLSearchParams(PARTS.exec(text)?.[4]).get(SESSION) ?? undefined;
}

/**
 * Reads `postgres://USER:PASSWORD@HOST1:PORT,HOST2:PORT/DATABASE?target_session_attrs=read-write`,
 * as libpq reads it; undefined for a text that is no such URL. Of several hosts, one that takes
 * writes is looked for, whether the URL says so or not.
 */
export function readPostgresPlace(text: string): PostgresPlace | undefined {
  const [, head = '', authority = '', path = '', query = ''] = PARTS.exec(text) ?? [];
  const hosts = authority.split(',');
  // A URL without a host names a socket in its query.
  if (head === '' || (authority !== '' && !hosts.every(isHost))) return undefined;
  const words = query.split('&').filter((word) => !word.startsWith(`${SESSION}=`));
  const rest = words.join('&') === '' ? path : `${path}?${words.join('&')}`;
  const wanted = sessionWordOf(text) ?? (hosts.length > 1 ? 'read-write' : 'any');
  const urls = hosts.map((host) => head + host + rest);
  if (!urls.every((url) => URL.canParse(url))) return undefined;
  return { urls, must_write: wanted !== 'any' };
}

/** Whether a new connection has to look for its host. */
export function hasChoice({ urls, must_write }: PostgresPlace): boolean {
  return urls.length > 1 || must_write;
}

/** The place of a URL that the check of gateway.yaml has taken. Throws `StoreError` otherwise. */
export function placeOf(url: string): PostgresPlace {
  const place = readPostgresPlace(url);
  if (!place) throw new StoreError('The URL of the PostgreSQL store is not well formed.');
  return place;
}

function isHost(host: string): boolean {
  const [found, port = '5432'] = HOST.exec(host) ?? [];
  return found !== undefined && Number(port) >= 1 && Number(port) <= MAX_PORT;
}
