import { Agent, Pool } from 'undici';
import type { Provider, WireRequest } from '../core/provider.js';
import { UpstreamCall } from './upstream-call.js';
import { dispatchLocally } from './in-process.js';
import { lookupPublic, assertPublic } from './ssrf-guard.js';
import type { Network } from './network-types.js';

export interface NetworkOptions {
  /** The maximum of sockets to one origin. Further calls wait for one within `connect_ms`. */
  connections: number;
  /** How long a socket to an https origin is kept for the next call. */
  idle_ms: number;
}

/** The parts of a provider's base URL, parsed once. */
interface Base {
  origin: string;
  path: string;
  query: string;
  headers: Readonly<Record<string, string>>;
}

/** Frees a socket that is still connecting long after its call has ended. */
const CONNECT_MS = 120_000;

/**
 * Many servers without TLS close an idle connection after five seconds and do not announce it. A
 * call must not use a socket that is just closing, and a new one without TLS costs little.
 */
const PLAIN_IDLE_MS = 4_000;

const IDENTITY = { 'accept-encoding': 'identity' };

/** Holds the sockets to all upstreams, for the life of the process. */
export function createNetwork({ connections, idle_ms }: NetworkOptions): Network {
  const sockets = {
    connections,
    // One call at a time on a socket: aborting a call may then close it, and harms no other.
    pipelining: 1,
    // A call times its own phases.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (origin: string | URL, options: Pool.Options) =>
      new Pool(origin, { ...options, keepAliveTimeout: idleOf(origin, idle_ms) }),
  };
  const connecting = { allowH2: false, timeout: CONNECT_MS };
  const agent = new Agent({ ...sockets, connect: connecting });
  // Upstreams choose these addresses, so the calls to them share no socket with the provider's.
  const outside = new Agent({ ...sockets, connect: { ...connecting, lookup: lookupPublic } });
  const bases = new WeakMap<Provider, Base>();

  const baseFor = (provider: Provider): Base => {
    const known = bases.get(provider);
    if (known) return known;
    const base = baseOf(provider);
    bases.set(provider, base);
    return base;
  };

  return {
    send: (provider, request, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const isOutside = !provider.local && isForeign(provider, request.path);
        if (isOutside) assertPublic(request.path);
        const call = new UpstreamCall(provider.timeouts, signal, resolve, reject);
        if (provider.local) void dispatchLocally(provider.local, request, call);
        else dispatch(isOutside ? outside : agent, provider, baseFor(provider), request, call);
      }),
    close: async () => {
      await Promise.all([agent.destroy(), outside.destroy()]);
    },
  };
}

/** The idle time of a socket. A time that the server announces itself replaces it. */
export function idleOf(origin: string | URL, idle_ms: number): number {
  return String(origin).startsWith('https:') ? idle_ms : Math.min(idle_ms, PLAIN_IDLE_MS);
}

function dispatch(
  agent: Agent,
  provider: Provider,
  base: Base,
  request: WireRequest,
  call: UpstreamCall,
): void {
  const { origin, path } = addressOf(base, request.path);
  // Credentials go to the provider's own hosts only.
  const isOutside = origin !== base.origin && !isOwn(provider, new URL(origin));
  const open = request.credentials === false || isOutside;
  agent.dispatch(
    {
      origin,
      path,
      method: request.method,
      // The operator's headers stand last, so that no codec can replace a credential.
      headers: Object.assign({}, request.headers, open ? IDENTITY : base.headers),
      body: request.body ?? null,
    },
    call,
  );
}

/** The origin and path of a request, whose path may be a whole URL. */
function addressOf({ origin, path, query }: Base, asked: string): { origin: string; path: string } {
  if (isAbsolute(asked)) {
    const url = new URL(asked);
    return { origin: url.origin, path: url.pathname + url.search };
  }
  const own = path + asked;
  if (!query) return { origin, path: own || '/' };
  return { origin, path: own + (own.includes('?') ? '&' : '?') + query };
}

function baseOf({ base_url, headers }: Provider): Base {
  const url = new URL(base_url);
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    origin: url.origin,
    path: url.pathname.replace(/\/+$/u, ''),
    query: url.search.slice(1),
    headers: { ...IDENTITY, ...Object.fromEntries(lowered) },
  };
}

export function isAbsolute(path: string): boolean {
  return /^https?:\/\//iu.test(path);
}

/** The whole URL of a provider's path. An absolute path stays as it is. */
export function urlOf({ base_url }: Pick<Provider, 'base_url'>, path: string): URL {
  if (isAbsolute(path)) return new URL(path);
  const base = new URL(base_url);
  const url = new URL(base.origin + base.pathname.replace(/\/+$/u, '') + path);
  for (const [name, value] of base.searchParams) url.searchParams.append(name, value);
  return url;
}

/**
 * Whether a path is an address that the operator did not choose. The operator chose the provider's
 * own origin, and the hosts that its manifest lists as `wire.image_hosts`. An upstream or a
 * client may have named any other, so that one must be public.
 */
export function isForeign(provider: Pick<Provider, 'base_url' | 'wire'>, path: string): boolean {
  if (!isAbsolute(path)) return false;
  const url = new URL(path);
  return !isOwn(provider, url) && !isListed(provider, url);
}

export function isListed({ wire }: Pick<Provider, 'wire'>, { host, hostname }: URL): boolean {
  const hosts = wire['image_hosts'];
  return Array.isArray(hosts) && (hosts.includes(host) || hosts.includes(hostname));
}

/**
 * Whether an address is the provider's own, so that its key may go there: same scheme, host and
 * port, or a host that its manifest lists as `wire.key_hosts`. There `api.*.example.com` stands for
 * any one word in the place of the star, and for https alone.
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
