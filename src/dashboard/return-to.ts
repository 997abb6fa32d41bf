/** A longer path is not a page of the dashboard. */
const LONGEST = 1024;

/**
 * Reduces an address to a path of this site with its query, and to `/` if it could lead elsewhere.
 * Browsers accept unusual spellings of an address, so a URL parser decides.
 */
export function returnTo(wanted: unknown, public_url: string): string {
  if (typeof wanted !== 'string' || wanted.length > LONGEST) return '/';
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/u.test(wanted)) return '/';
  const { origin } = new URL(public_url);
  if (!URL.canParse(wanted, origin)) return '/';
  const url = new URL(wanted, origin);
  // Resolving dots can leave two slashes in front: `/./` before `/evil.example`.
  if (url.origin !== origin || url.pathname.startsWith('//')) return '/';
  return url.pathname + url.search;
}
