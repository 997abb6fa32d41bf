import type { Credentials, Provider, RequestSigner } from '../core/provider.js';
import type { ProviderEntry } from '../schema-types/gateway.js';
import type { AuthBlock } from '../schema-types/provider.js';
import { isMisspelt } from '../yaml/misspelt.js';
import { quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import { nameOf } from './address.js';
import type { Adapters, Manifest } from './adapter.js';

type Entry = PartialLoad<ProviderEntry>;

const NEEDED = ['access_key_id', 'secret_access_key'] as const;
const KEYS = [...NEEDED, 'session_token'] as const;

/**
 * The keys that sign the requests to a provider whose manifest says `auth: { signer }`; undefined
 * where the entry has an API key instead. Faults never show any part of a key.
 */
export function readSigner(
  source: Source,
  pointer: string,
  entry: Entry,
  manifest: Manifest,
): Provider['signer'] {
  const given = KEYS.filter((key) => source.has(`${pointer}/${key}`));
  if (!manifest.source.has('/auth/signer')) return undefined;
  if (source.has(`${pointer}/api_key`)) {
    const [first] = given;
    if (first !== undefined) {
      const all = given.join(' and ');
      const message = `${all} ${given.length === 1 ? 'stands' : 'stand'} beside api_key`;
      const hint = `remove api_key, or ${all}`;
      source.fault(`${pointer}/${first}`, { code: 'two_credentials', message, hint, at: 'key' });
    }
    return undefined;
  }
  reportMissing(source, pointer, entry);
  const credentials = readKeys(source, pointer, entry);
  return manifest.sign && { sign: manifest.sign, credentials };
}

function reportMissing(source: Source, pointer: string, entry: Entry): void {
  const isMissing = (key: string): boolean =>
    !source.has(`${pointer}/${key}`) && !isMisspelt(source, pointer, key, others(key));
  const missing = NEEDED.filter(isMissing).map(quote);
  if (missing.length > 0) {
    const keys = `${missing.length === 1 ? 'key' : 'keys'} ${missing.join(' and ')}`;
    const message = `${nameOf(pointer)} is missing the ${keys}`;
    source.fault(pointer, {
      code: 'missing_key',
      message,
      hint: 'or write api_key in their place',
    });
  }
  if (entry.base_url !== undefined && isMissing('region')) {
    const message = `${nameOf(pointer)} is missing the key "region"`;
    source.fault(pointer, {
      code: 'missing_key',
      message,
      hint: 'requests are signed for a region',
    });
  }
}

function others(key: string): string[] {
  return KEYS.filter((one) => one !== key);
}

function readKeys(source: Source, pointer: string, entry: Entry): Credentials {
  const credentials: Credentials = {};
  if (entry.region !== undefined) credentials.region = entry.region;
  for (const key of KEYS) {
    const value = entry[key];
    // Only temporary keys have a session token. Otherwise its variable may be empty.
    if (value === undefined || (value === '' && key === 'session_token')) continue;
    if (/^[\x21-\x7e]+$/.test(value)) credentials[key] = value;
    else {
      const holds = value.trim() === '' ? 'is empty' : 'holds a character that no key has';
      source.fault(`${pointer}/${key}`, { code: 'bad_credentials', message: `${key} ${holds}` });
    }
  }
  return credentials;
}

/** The signer that a manifest names. An `auth` with both signer and header, or none, is a fault. */
export async function importSigner(
  source: Source,
  auth: PartialLoad<AuthBlock> | undefined,
  adapters: Adapters,
): Promise<RequestSigner | undefined> {
  if (typeof auth !== 'object') return undefined;
  const has = (key: string): boolean => source.has(`/auth/${key}`);
  if (!has('signer') && !has('header') && !isMisspelt(source, '/auth', 'header')) {
    const message = 'auth is missing the key "header"';
    source.fault('/auth', { code: 'missing_key', message });
  }
  if (has('signer') && has('header')) {
    const message = 'auth has a signer and a header';
    const hint = 'with a signer, an api_key goes as a bearer token';
    source.fault('/auth/header', { code: 'two_credentials', message, hint, at: 'key' });
  }
  return adapters.importPart('/auth/signer', auth.signer, 'sign', isSigner);
}

function isSigner(value: unknown): value is RequestSigner {
  return typeof value === 'function';
}
