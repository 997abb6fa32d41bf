import type { ProviderEntry } from '../schema-types/gateway.js';
import type { AuthBlock } from '../schema-types/provider.js';
import type { Manifest } from './adapter.js';
import { nameOf } from './address.js';
import { variableOf } from './clear-text.js';
import { isMisspelt } from '../yaml/misspelt.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';

/** Headers of the connection or the body, which only the gateway writes. */
const RESERVED = [
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const BEARER = { header: 'authorization', prefix: 'Bearer ' };

interface Auth {
  header: string;
  prefix: string;
  required: boolean;
  /** Without an API key the requests are signed. */
  signs: boolean;
}

/**
 * The headers of every call to a provider, names in lower case: the manifest's, the credentials,
 * then the entry's own. Faults never show a value, which may be a secret.
 */
export function readHeaders(
  source: Source,
  pointer: string,
  entry: PartialLoad<ProviderEntry>,
  manifest: Manifest,
): Record<string, string> {
  return {
    ...checkHeaders(manifest.source, '/headers', manifest.data.headers ?? {}),
    ...credentials(source, pointer, entry, manifest),
    ...checkHeaders(source, `${pointer}/headers`, entry.headers ?? {}),
  };
}

function credentials(
  source: Source,
  pointer: string,
  { api_key: key }: PartialLoad<ProviderEntry>,
  manifest: Manifest,
): Record<string, string> {
  const place = `${pointer}/api_key`;
  const auth = readAuth(manifest.data.auth);
  const given = source.has(place);
  const isSigned = auth?.signs === true || source.has(`${pointer}/service_account`);
  if (!auth) return {};
  if (auth.required && !given && !isSigned && !isMisspelt(source, pointer, 'api_key')) {
    const message = `${nameOf(pointer)} is missing the key "api_key"`;
    const hint = writeKey(place);
    source.fault(pointer, { code: 'missing_api_key', message, hint });
  }
  if (key === undefined && source.unread.has(place)) {
    const written = source.written(place).replaceAll(/\$\{[^}]*\}/g, 'x');
    const isBad = !/^[\x21-\x7e]+$/.test(written) || QUOTED.test(written);
    const { message, hint } = badKey(written, false);
    const way = PREFIX.test(written) ? hint : 'write the variable alone, without what is around it';
    if (isBad) source.faultAsWritten(place, { code: 'bad_api_key', message, hint: way });
  }
  if (key === undefined) return {};
  if (key.trim() === '') {
    const hint = source.hides(place)
      ? 'its variable is set to nothing: set it, or write it into the file .env beside this one'
      : writeKey(place);
    const wrong = { code: 'missing_api_key', message: 'api_key is empty', hint };
    if (auth.required) source.fault(place, wrong);
    return {};
  }
  // A variable in the form of another program has a fault of its own.
  if (/^\$?\{\{|^<.*>$/.test(key)) return {};
  if (!/^[\x21-\x7e]+$/.test(key) || QUOTED.test(key)) {
    const isBlock = /^[^:]+:\s*[|>]/.test(source.lineOf(place));
    source.fault(place, { code: 'bad_api_key', ...badKey(key, isBlock) });
    return {};
  }
  return { [auth.header.toLowerCase()]: auth.prefix + key };
}

function writeKey(place: string): string {
  return `write api_key: "\${${variableOf(place)}}", and set that environment variable`;
}

/** A key with the quotes of a file in it, or with one that was not closed there. */
const QUOTED = /^["']|["']$/;

/** The scheme of a header, which does not belong to the key. */
const PREFIX = /^(Bearer|Basic|Token|Key)\s/i;

function badKey(key: string, isBlock: boolean): { message: string; hint: string } {
  if (QUOTED.test(key)) {
    const isOpen = !/^(["']).*\1$/.test(key);
    const message = isOpen ? 'api_key begins or ends with a quote' : 'api_key has quotes in it';
    const hint = isOpen
      ? 'end the quote in its variable, or remove it'
      : 'remove those within its variable';
    return { message, hint };
  }
  const [, word] = PREFIX.exec(key) ?? [];
  if (word !== undefined) {
    const message = `api_key begins with "${word}", which the gateway writes itself`;
    return { message, hint: `remove "${word}"` };
  }
  const message = 'api_key holds a space or another character that no key has';
  if (isBlock) {
    const hint = 'the text below | ends with a line end: write it behind "api_key: ", without |';
    return { message, hint };
  }
  return { message, hint: 'it may end with a space or a line end: set it anew, without' };
}

function readAuth(auth: PartialLoad<AuthBlock> | undefined): Auth | undefined {
  if (auth === undefined || auth === 'none') return undefined;
  if (typeof auth === 'object') {
    const { header, prefix = '', required = true, signer } = auth;
    if (signer !== undefined) return { ...BEARER, required: true, signs: true };
    return header === undefined ? undefined : { header, prefix, required, signs: false };
  }
  return { ...BEARER, required: auth === 'bearer', signs: false };
}

const HEADER = /^[a-z0-9!#$%&'*+.^_`|~-]+$/i;

/** Headers whose names and values can be sent, names in lower case. The others are faults. */
export function checkHeaders(
  source: Source,
  pointer: string,
  headers: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const place = pointer + join(name);
    const low = name.toLowerCase();
    if (!HEADER.test(low) || RESERVED.includes(low)) {
      const why = RESERVED.includes(low) ? 'is written by the gateway' : 'is no header name';
      const message = `headers: ${quote(name)} ${why}`;
      const dashed = name.trim().replace(/:$/, '').replaceAll(/\s+/g, '-');
      const hint = RESERVED.includes(low) ? 'remove it' : `write ${dashed}`;
      const isName = RESERVED.includes(low) || HEADER.test(dashed);
      source.fault(place, { code: 'bad_header', message, hint: isName ? hint : '', at: 'key' });
    } else if (value !== undefined && !/^[\t\x20-\x7e]*$/.test(value)) {
      const message = `headers: ${quote(name)} has a character that no header can carry`;
      source.fault(place, { code: 'bad_header', message });
    } else if (value !== undefined) read[low] = value;
  }
  return read;
}
