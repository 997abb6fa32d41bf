import type { IncomingMessage } from 'node:http';

/** No page of the dashboard has a longer path. */
const MAX_LENGTH = 1024;

/**
 * Reduces an address to a path of this site with its query, and to `/` if it could lead elsewhere.
 * Browsers accept unusual spellings of an address, so a URL parser decides.
 */
export function returnTo(wanted: unknown, public_url: string): string {
  if (typeof wanted !== 'string' || wanted.length > MAX_LENGTH) return '/';
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/u.test(wanted)) return '/';
  const { origin } = new URL(public_url);
  if (!URL.canParse(wanted, origin)) return '/';
  const url = new URL(wanted, origin);
  // Resolving dots can leave two slashes in front: `/./` before `/evil.example`.
  if (url.origin !== origin || url.pathname.startsWith('//')) return '/';
  return url.pathname + url.search;
}

/**
 * The page that a form was sent from, by the Referer header: a path of this site, or `/` if the
 * header is missing or names another site.
 */
export function formPage(
  { headers: { referer = '' } }: IncomingMessage,
  public_url: string,
): string {
  const { origin } = new URL(public_url);
  return referer.startsWith(`${origin}/`)
    ? returnTo(referer.slice(origin.length), public_url)
    : '/';
}

/** The address of a sign-in route that leads to the page `return_to` afterwards. */
export function signInAddress(path: string, return_to: string): string {
  return return_to === '/' ? path : `${path}?${new URLSearchParams({ return_to }).toString()}`;
}
