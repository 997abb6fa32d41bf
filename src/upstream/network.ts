import { Agent, Pool } from 'undici';
import type { Provider, WireRequest } from '../core/provider.js';
import { isAbsolute, isForeign } from './address.js';
import { UpstreamCall } from './upstream-call.js';
import { dispatchLocally } from './in-process.js';
import { lookupPublic, assertPublic } from './ssrf-guard.js';
import type { Network } from './network-types.js';

export interface NetworkOptions {
  /** The most sockets to one origin. Calls beyond wait for one within their `connect_ms`. */
  connections: number;
  /** How long a socket to an https origin is kept for the next call. */
  idle_ms: number;
}

/** Where a provider is, taken apart once. */
interface Base {
  origin: string;
  path: string;
  query: string;
  headers: Readonly<Record<string, string>>;
}

/** Calls give up far earlier; this frees the sockets that they leave behind, still connecting. */
const CONNECT_MS = 120_000;

/**
 * What is reached without TLS is often a server that closes what idles for five seconds and does
 * not say so: a call must not meet it closing. Opening another such socket costs little.
 */
const PLAIN_IDLE_MS = 4_000;

const IDENTITY = { 'accept-encoding': 'identity' };

/** The sockets to all upstreams. One is made for the life of the process. */
export function createNetwork({ connections, idle_ms }: NetworkOptions): Network {
  const sockets = {
    connections,
    // One call at a time on a socket: aborting a call may then close it, and harms no other.
    pipelining: 1,
    // An exchange keeps its own time, by phases the operator can set.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (origin: string | URL, options: Pool.Options) =>
      new Pool(origin, { ...options, keepAliveTimeout: idleOf(origin, idle_ms) }),
  };
  const connecting = { allowH2: false, timeout: CONNECT_MS };
  const agent = new Agent({ ...sockets, connect: connecting });
  // A socket of the one is never used by the other, whose addresses upstreams choose.
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
        const exchange = new UpstreamCall(provider.timeouts, signal, resolve, reject);
        if (provider.local) void dispatchLocally(provider.local, request, exchange);
        else dispatch(isOutside ? outside : agent, baseFor(provider), request, exchange);
      }),
    close: async () => {
      await Promise.all([agent.destroy(), outside.destroy()]);
    },
  };
}

/** Where a server names a time of its own, that holds instead. */
export function idleOf(origin: string | URL, idle_ms: number): number {
  return String(origin).startsWith('https:') ? idle_ms : Math.min(idle_ms, PLAIN_IDLE_MS);
}

function dispatch(agent: Agent, base: Base, request: WireRequest, exchange: UpstreamCall): void {
  const { origin, path } = addressOf(base, request.path);
  // Credentials are for the provider alone: an address elsewhere never sees them.
  const open = request.credentials === false || origin !== base.origin;
  agent.dispatch(
    {
      origin,
      path,
      method: request.method,
      // The operator's headers stand last, so that no codec can replace a credential.
      headers: Object.assign({}, request.headers, open ? IDENTITY : base.headers),
      body: request.body ?? null,
    },
    exchange,
  );
}

/** A path of the provider's, or an address of its own. */
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
