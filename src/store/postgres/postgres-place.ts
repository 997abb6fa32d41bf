import { readFileSync } from 'node:fs';
import type { StorePlace } from '../../core/store-place.js';
import { StoreError } from '../store-error.js';

/** The hosts that the URL of a store on PostgreSQL names. */
export interface PostgresHostList {
  /** A URL for each host, in the order in which they are tried. */
  urls: readonly string[];
  /** Whether a host is left out that takes no writes: a standby, until it is promoted. */
  must_write: boolean;
}

/** A store on PostgreSQL, as the driver takes it. */
export interface PostgresPlace extends PostgresHostList {
  place: StorePlace;
  /** What each connection has beside its URL. */
  options: { fallback_application_name: string; application_name?: string; ssl?: TlsFiles };
}

/** The texts of these files. */
interface TlsFiles {
  ca: string;
  cert?: string;
  key?: string;
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/u;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/iu;
const MAX_PORT = 65_535;

const SESSION = 'target_session_attrs';
/** The words of libpq by which a host can be found that the gateway can work with. */
export const SESSION_WORDS: readonly string[] = ['read-write', 'primary', 'any'];

/** A parameter of such a URL; undefined if it has none of that name. */
export function parameterOfUrl(text: string, name: string): string | undefined {
  return new URLSearchParams(PARTS.exec(text)?.[4]).get(name) ?? undefined;
}

/** The word by which a URL asks for its host; undefined if it has none. */
export function sessionWordOf(text: string): string | undefined {
  return parameterOfUrl(text, SESSION);
}

/**
 * Reads `postgres://USER:PASSWORD@HOST1:PORT,HOST2:PORT/DATABASE?target_session_attrs=read-write`,
 * as libpq reads it; undefined for a text that is no such URL. Of several hosts, one that takes
 * writes is looked for, whether the URL says so or not.
 */
export function readPostgresHosts(text: string): PostgresHostList | undefined {
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

/** The hosts of a URL that the check of gateway.yaml has taken. Throws `StoreError` otherwise. */
export function hostsOfUrl(url: string): PostgresHostList {
  const hosts = readPostgresHosts(url);
  if (!hosts) throw new StoreError('The URL of the PostgreSQL store is not well formed.');
  return hosts;
}

/** Reads the files of the place, too. Throws `StoreError` where that fails. */
export function postgresPlaceOf(place: StorePlace): PostgresPlace {
  const { application_name, ca, url } = place;
  const { urls, must_write } = hostsOfUrl(url);
  const ssl = ca === undefined ? undefined : tlsFilesOf(ca, url);
  // Of a value in both, the driver takes that of the URL.
  const replaced = [...(application_name ? ['application_name'] : []), ...(ssl ? TLS_WORDS : [])];
  return {
    place,
    urls: urls.map((one) => withoutParameters(one, replaced)),
    must_write,
    options: {
      fallback_application_name: 'tollgate',
      ...(application_name !== undefined && { application_name }),
      ...(ssl && { ssl }),
    },
  };
}

const TLS_WORDS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

function tlsFilesOf(ca: string, url: string): TlsFiles {
  const [cert, key] = ['sslcert', 'sslkey'].map((name) => parameterOfUrl(url, name));
  try {
    return {
      ca: readFileSync(ca, 'utf8'),
      ...(cert !== undefined && { cert: readFileSync(cert, 'utf8') }),
      ...(key !== undefined && { key: readFileSync(key, 'utf8') }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(`A certificate of the store cannot be read: ${reason}`, { cause: error });
  }
}

function withoutParameters(text: string, names: readonly string[]): string {
  const [base = '', query] = text.split('?', 2);
  const words = query?.split('&').filter((word) => !names.includes(word.split('=')[0] ?? ''));
  return words === undefined || words.length === 0 ? base : `${base}?${words.join('&')}`;
}

/** Whether a new connection has to look for its host. */
export function hasChoice({ urls, must_write }: PostgresHostList): boolean {
  return urls.length > 1 || must_write;
}

function isHost(host: string): boolean {
  const [found, port = '5432'] = HOST.exec(host) ?? [];
  return found !== undefined && Number(port) >= 1 && Number(port) <= MAX_PORT;
}
