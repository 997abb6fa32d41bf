import type { Provider } from '../core/provider.js';

export function isAbsolute(path: string): boolean {
  return /^https?:\/\//iu.test(path);
}

/** A base URL in its parts; the path does not end with a slash. */
export interface Base {
  origin: string;
  path: string;
  query: string;
}

export function baseOf({ base_url }: Pick<Provider, 'base_url'>): Base {
  const { origin, pathname, search } = new URL(base_url);
  return { origin, path: pathname.replace(/\/+$/u, ''), query: search.slice(1) };
}

/** The origin and the path of a request, whose own path may be a whole URL. */
export function addressOf(
  { origin, path, query }: Base,
  request_path: string,
): { origin: string; path: string } {
  if (isAbsolute(request_path)) {
    const url = new URL(request_path);
    return { origin: url.origin, path: url.pathname + url.search };
  }
  const joined = path + request_path;
  if (!query) return { origin, path: joined || '/' };
  return { origin, path: joined + (joined.includes('?') ? '&' : '?') + query };
}

/** The whole URL of a provider's path, as the network sends it. */
export function urlOf(provider: Pick<Provider, 'base_url'>, request_path: string): URL {
  if (isAbsolute(request_path)) return new URL(request_path);
  const { origin, path } = addressOf(baseOf(provider), request_path);
  return new URL(origin + path);
}

/**
 * Whether a path is an address that the operator did not choose. The operator chose the provider's
 * own origin and the hosts in `wire.image_hosts` of its manifest. An upstream or a client may have
 * named any other address, so it must be public.
 */
export function isForeign(provider: Pick<Provider, 'base_url' | 'wire'>, path: string): boolean {
  if (!isAbsolute(path)) return false;
  const url = new URL(path);
  return !isOwn(provider, url) && !isListed(provider, url);
}

/** Whether the manifest lists the host in `wire.image_hosts`, with its port or without. */
export function isListed({ wire }: Pick<Provider, 'wire'>, { host, hostname }: URL): boolean {
  const hosts = wire['image_hosts'];
  return Array.isArray(hosts) && (hosts.includes(host) || hosts.includes(hostname));
}

/**
 * Whether an address is the provider's own, so that its key may go there: same scheme, host and
 * port, or a host that its manifest lists as `wire.key_hosts`. In `api.*.example.com` the star
 * stands for one word, and the scheme must be https.
 */
export function isOwn({ base_url, wire }: Pick<Provider, 'base_url' | 'wire'>, url: URL): boolean {
  if (base_url !== '' && new URL(base_url).origin === url.origin) return true;
  const hosts = wire['key_hosts'];
  return Array.isArray(hosts) && hosts.some((host: unknown) => isHost(host, url));
}

function isHost(host: unknown, { protocol, host: given }: URL): boolean {
  if (typeof host !== 'string') return false;
  const [head = '', tail, ...more] = host.split('*');
  if (tail === undefined) return given === host;
  const isBetween = given.startsWith(head) && given.endsWith(tail) && more.length === 0;
  const word = given.slice(head.length, given.length - tail.length);
  return protocol === 'https:' && isBetween && /^[a-z0-9-]+$/u.test(word);
}
