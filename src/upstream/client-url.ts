import { GatewayError } from '../core/errors.js';
import { isPrivate } from './ssrf-guard.js';

const DATA = /^data:/iu;
const FAR = /^https?:/iu;
const SCHEME = /^[a-z][a-z0-9+.-]{0,20}:/iu;
const MOST_CHARACTERS = 8_192;

/**
 * Refuses what an upstream that stands inside could open for a client: files, and addresses that
 * are not public as far as their words tell. A data: URL holds its picture, however long it is.
 * Throws `GatewayError` (400) naming `param`.
 */
export function checkImageUrl(url: string, param: string): void {
  if (DATA.test(url)) return;
  if (FAR.test(url) && url.length <= MOST_CHARACTERS && URL.canParse(url)) {
    if (!isPrivate(new URL(url))) return;
    refuse(param, 'must not lead to an address that is not public');
  }
  refuse(param, 'must be an http(s) or a data: URL');
}

/** The same for a field that is sent on as it is, where it is a URL or a list with some. */
export function checkAddresses(value: unknown, param: string): void {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const text of texts) {
    if (typeof text === 'string' && SCHEME.test(text) && isAddress(text)) {
      checkImageUrl(text, param);
    }
  }
}

/** Other text may hold a colon too. */
function isAddress(text: string): boolean {
  return text.startsWith('//', text.indexOf(':') + 1) || /^file:/iu.test(text);
}

function refuse(param: string, complaint: string): never {
  throw new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}
