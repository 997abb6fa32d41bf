/** Longer ones are no page of ours. */
const LONGEST = 1024;

/**
 * A path of this site to go to, with its query; `/` for anything that could lead elsewhere. A
 * browser reads more into an address than meets the eye, so it is the parser that decides.
 */
export function returnTo(wanted: unknown, public_url: string): string {
  if (typeof wanted !== 'string' || wanted.length > LONGEST) return '/';
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/u.test(wanted)) return '/';
  const { origin } = new URL(public_url);
  if (!URL.canParse(wanted, origin)) return '/';
  const url = new URL(wanted, origin);
  // Dots may have brought a second slash to the front: `/./` before `/evil.example`.
  if (url.origin !== origin || url.pathname.startsWith('//')) return '/';
  return url.pathname + url.search;
}
