import { refuseField } from '../core/errors.js';
import { isPrivate } from './ssrf-guard.js';

const DATA = /^data:/iu;
/** A data: URL of an image, or of no type. Upstreams read a file of another type as that type. */
const IMAGE_DATA = /^data:(?:image\/|[;,])/iu;
const HTTP = /^https?:/iu;
const SCHEME = /^[a-z][a-z0-9+.-]{0,20}:/iu;
const MAX_CHARACTERS = 8_192;

/** Whether a text begins as an http(s) URL. */
export function isHttp(text: string | undefined): text is string {
  return text !== undefined && HTTP.test(text);
}

/**
 * Like `checkFileUrl`, and refuses the data of anything but an image: its length would decide its
 * cost, while every image is held for alike.
 */
export function checkImageUrl(url: string, param: string): void {
  if (DATA.test(url) && !IMAGE_DATA.test(url)) refuseField(param, 'must be the data of an image');
  checkFileUrl(url, param);
}

/**
 * Refuses URLs by which a client could reach the private network through an upstream: files, and
 * hosts whose name or address is not public. A data: URL holds its file and may have any length.
 * Throws `GatewayError` (400) naming `param`.
 */
export function checkFileUrl(url: string, param: string): void {
  if (DATA.test(url)) return;
  if (HTTP.test(url) && url.length <= MAX_CHARACTERS && URL.canParse(url)) {
    if (!isPrivate(new URL(url))) return;
    refuseField(param, 'must not lead to an address that is not public');
  }
  refuseField(param, 'must be an http(s) or a data: URL');
}

/** Checks the URLs in a field that goes to the upstream unchanged: a text, or a list of texts. */
export function checkAddresses(value: unknown, param: string): void {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const text of texts) {
    if (typeof text === 'string' && SCHEME.test(text) && isAddress(text)) {
      checkFileUrl(text, param);
    }
  }
}

/** Whether a text with a colon is an address; other text may hold a colon too. */
function isAddress(text: string): boolean {
  return text.startsWith('//', text.indexOf(':') + 1) || /^file:/iu.test(text);
}
