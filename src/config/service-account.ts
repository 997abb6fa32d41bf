import { createPrivateKey } from 'node:crypto';
import { isRecord } from '../lib/objects.js';
import type { ProviderEntry } from '../schema-types/gateway.js';
import type { ServiceAccount } from '../core/provider.js';
import { GOOGLE_TOKEN_URL, isAtGoogle } from '../upstream/google-token.js';
import type { Source } from '../yaml/source.js';
import { readUrl } from '../yaml/urls.js';
import type { PartialLoad } from '../yaml/validate.js';

/**
 * The service account of a provider entry, read from the text of its key file. Anyone may have
 * written a key file, so its `token_uri` is trusted only if it is Google's. The operator can name
 * another one in `token_url`. Faults show no part of the key.
 */
export function readServiceAccount(
  source: Source,
  pointer: string,
  { service_account: text, token_url }: PartialLoad<ProviderEntry>,
): ServiceAccount | undefined {
  const place = `${pointer}/service_account`;
  const fault = (message: string, hint = 'write service_account: ${file:key.json}') => {
    source.fault(place, {
      code: 'bad_service_account',
      message: `service_account ${message}`,
      hint,
    });
    return undefined;
  };
  if (source.has(place) && source.has(`${pointer}/api_key`)) {
    const message = 'service_account stands beside api_key';
    const wrong = { code: 'bad_service_account', message, hint: 'remove one of them' };
    source.faultAsWritten(place, wrong);
    return undefined;
  }
  if (text === undefined) return undefined;
  const key = keyIn(text);
  const way = /^[\w./~-]{1,200}\.json$/.test(text)
    ? pathHint(text, source.hides(place))
    : undefined;
  if (!key) return fault('is not the JSON of a key file', way);
  const { client_email, private_key, token_uri = GOOGLE_TOKEN_URL } = key;
  if (typeof client_email !== 'string' || client_email === '') return fault('lacks client_email');
  if (!isPrivateKey(private_key)) {
    const hint = 'use the key file as it was downloaded: service_account: ${file:key.json}';
    return fault('has no private_key that can be read', hint);
  }
  if (token_url !== undefined) {
    const own = readUrl(source, `${pointer}/token_url`, token_url);
    return own === undefined ? undefined : { client_email, private_key, token_url: own };
  }
  if (!isTokenUrl(token_uri)) {
    return fault('has a token_uri that is not at googleapis.com', 'set token_url to trust it');
  }
  return { client_email, private_key, token_url: token_uri };
}

function keyIn(text: string): Record<string, unknown> | undefined {
  try {
    const key: unknown = JSON.parse(text);
    return isRecord(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function isPrivateKey(pem: unknown): pem is string {
  try {
    return typeof pem === 'string' && createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function isTokenUrl(text: unknown): text is string {
  return typeof text === 'string' && URL.canParse(text) && isAtGoogle(new URL(text));
}

/** The hint for a path where the key itself is wanted; what a variable holds is not shown. */
function pathHint(path: string, isHidden: boolean): string {
  if (!isHidden) return `write service_account: \${file:${path.replace(/^~/, '/home/USER')}}`;
  const why = 'its variable holds a path, and the key itself is wanted';
  return `${why}: write \${file:PATH} with that path`;
}
