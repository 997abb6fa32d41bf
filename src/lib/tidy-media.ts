import { headOf } from './data-url.js';
import { sniffImageType } from './image-type.js';

/** Looked for one by one, which is far quicker than a pattern. */
const SPACES = ['\n', '\r', ' ', '\t'];
/** The pictures that upstreams know by their types. */
const LABELLED: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Other words for types. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
]);
const HEAD = /^data:([^,;]{0,200})(?:;[^,]{0,200})?;base64,/iu;

/** Base64 without white space, such as the line breaks that some libraries write. */
export function tidyBase64(base64: string): string {
  const isTidy = SPACES.every((space) => !base64.includes(space));
  return isTidy ? base64 : Buffer.from(base64, 'base64').toString('base64');
}

/** A data: URL whose base64 has no white space; any other text as it is. */
export function tidyDataUrl(url: string): string {
  const [head] = HEAD.exec(url) ?? [];
  return head === undefined ? url : head + tidyBase64(url.slice(head.length));
}

/** The type of a picture by its first bytes, if it is of a known kind, else the given one. */
export function pictureType(given: string, base64: string): string {
  const type = given.trim().toLowerCase();
  const sniffed = sniffImageType(headOf(base64));
  return LABELLED.includes(sniffed) ? sniffed : (SYNONYMS.get(type) ?? type);
}

/**
 * A data: URL of a picture as upstreams read it: with the type that its first bytes show, and
 * without white space; any other URL as it is.
 */
export function tidyPictureUrl(url: string): string {
  const [head, given = ''] = HEAD.exec(url) ?? [];
  if (head === undefined) return url;
  const written = url.slice(head.length);
  const base64 = tidyBase64(written);
  const type = pictureType(given, base64);
  return type === given && base64 === written ? url : `data:${type};base64,${base64}`;
}
