import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { placeOfStore, STORE_DEFAULTS, type StorePlace } from '../core/store-place.js';
import type { GatewayFile } from '../schema-types/gateway.js';
import { parameterOfUrl } from '../store/postgres/postgres-place.js';
import { label, quote, type Source } from '../yaml/source.js';
import { readDuration } from '../yaml/units.js';
import type { PartialLoad } from '../yaml/validate.js';
import { readSessionUrl, readStoreUrl } from './store-url.js';

export const DEFAULT_STORE = 'sqlite:data/tollgate.db';

const CONNECT = { default: STORE_DEFAULTS.connect_ms, min: 100, max: 5 * 60_000 };
const STATEMENT = { default: STORE_DEFAULTS.statement_ms, min: 100, max: 60 * 60_000 };
/** Larger than the authorities of all browsers. */
const MAX_BYTES = 4 * 1024 * 1024;
const BLOCK = '/store';
const URL_POINTER = `${BLOCK}/url`;

/** Where the URL of the store stands: `store: URL`, or `url` in its block. */
export function storeUrlPointer(source: Source): string {
  return source.has(URL_POINTER) ? URL_POINTER : BLOCK;
}

/** The store of a file: its URL alone, or a block. */
export function readStorePlace(
  source: Source,
  written: PartialLoad<GatewayFile>['store'],
  directory: string,
): StorePlace {
  if (typeof written !== 'object') {
    return placeOfStore(readStoreUrl(source, BLOCK, written ?? DEFAULT_STORE, directory));
  }
  const { url: text, session_url, pool = {}, timeout = {}, application_name, ca } = written;
  const url = readStoreUrl(source, URL_POINTER, text ?? DEFAULT_STORE, directory);
  if (text !== undefined && url.startsWith('sqlite:')) refuseOfSqlite(source);
  return {
    url,
    session_url:
      session_url === undefined
        ? undefined
        : readSessionUrl(source, `${BLOCK}/session_url`, session_url),
    connections: Number(pool.connections ?? STORE_DEFAULTS.connections),
    connect_ms: readDuration(source, `${BLOCK}/timeout/connect`, timeout.connect, CONNECT),
    statement_ms: readDuration(source, `${BLOCK}/timeout/statement`, timeout.statement, STATEMENT),
    application_name,
    ca: ca === undefined ? undefined : readAuthority(source, ca, directory),
  };
}

/** Refuses the keys that mean nothing to a file. */
function refuseOfSqlite(source: Source): void {
  for (const key of source.keys(BLOCK) ?? []) {
    if (key === 'url') continue;
    source.fault(`${BLOCK}/${key}`, {
      code: 'bad_store',
      message: `store.${key} is for PostgreSQL, and the store is a file of SQLite`,
      hint: 'remove it',
      at: 'key',
    });
  }
}

/** The absolute path of a file of certificates. */
function readAuthority(source: Source, path: string, directory: string): string {
  const pointer = `${BLOCK}/ca`;
  const file = resolve(directory, path);
  const fault = faultOfAuthority(file);
  if (fault !== undefined) {
    const message = `store.ca: ${source.word(pointer)} ${fault}`;
    const hint = 'name the file of PEM text with the certificate of the authority';
    source.fault(pointer, { code: 'bad_store', message, hint });
  }
  for (const key of ['url', 'session_url']) refuseUnproved(source, `${BLOCK}/${key}`);
  return file;
}

function faultOfAuthority(file: string): string | undefined {
  try {
    const info = statSync(file);
    // A pipe may never end.
    if (!info.isFile() || info.size > MAX_BYTES) return 'is no file of certificates';
    return hasCertificate(readFileSync(file)) ? undefined : 'has no certificate';
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isMissing ? 'is not there' : 'cannot be read';
  }
}

function hasCertificate(text: Buffer): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

/** Refuses a URL that asks for a connection without a proof of its server. */
function refuseUnproved(source: Source, pointer: string): void {
  const mode = parameterOfUrl(source.text(pointer) ?? '', 'sslmode');
  if (mode !== 'disable' && mode !== 'no-verify') return;
  source.fault(pointer, {
    code: 'bad_store',
    message: `${label(pointer)}: sslmode=${mode} proves no server, and store.ca asks for a proof`,
    hint: `remove ${quote(`sslmode=${mode}`)}, or store.ca`,
  });
}
