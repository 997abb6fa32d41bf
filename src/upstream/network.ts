import { Agent, Pool, buildConnector } from 'undici';
import type { Provider, WireRequest } from '../core/provider.js';
import { UpstreamCall, unsent } from './upstream-call.js';
import { dispatchLocally } from './in-process.js';
import { lookupPublic, assertPublic } from './ssrf-guard.js';
import { UpstreamError } from '../core/upstream-error.js';
import type { Network } from './network-types.js';
import { memoizeByObject } from '../lib/objects.js';
import { addressOf, baseOf, isForeign, isOwn, type Base } from './upstream-request.js';

export interface NetworkOptions {
  /** The maximum of sockets to one origin. Further calls are `busy`. */
  connections: number;
  /** How long a socket to an https origin is kept for the next call. */
  idle_ms: number;
}

/** A provider's base URL and headers, read once. */
interface Target extends Base {
  headers: Readonly<Record<string, string>>;
}

/** A socket may connect for this long. Its call has most likely ended before. */
const CONNECT_MS = 120_000;

/**
 * Many servers without TLS close an idle connection after five seconds and do not announce it. A
 * call must not use a socket that is just closing, and a new one without TLS costs little.
 */
const PLAIN_IDLE_MS = 4_000;

const IDENTITY = { 'accept-encoding': 'identity' };

/** Holds the sockets to all upstreams, for the life of the process. */
export function createNetwork({ connections, idle_ms }: NetworkOptions): Network {
  const limits = {
    connections,
    // One call at a time on a socket, so that an aborted call can close its socket.
    pipelining: 1,
    // A call times its own phases.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (origin: string | URL, options: Pool.Options) =>
      new Pool(origin, { ...options, keepAliveTimeout: idleOf(origin, idle_ms) }),
  };
  const connecting = { allowH2: false, timeout: CONNECT_MS };
  const agent = new Agent({ ...limits, connect: buildConnector(connecting) });
  // Upstreams choose these addresses, so calls to them share no sockets with the provider.
  const outside = new Agent({
    ...limits,
    connect: buildConnector({ ...connecting, lookup: lookupPublic }),
  });
  const targetFor = memoizeByObject(targetOf);
  const sockets = new SocketCount(connections);

  return {
    send: (provider, request, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(unsent(signal.reason));
        const mustBePublic = !provider.local && isForeign(provider, request.path);
        if (mustBePublic) assertPublic(request.path);
        const target = provider.local ? undefined : targetFor(provider);
        const outbound = target && outgoing(provider, target, request);
        const free = outbound ? sockets.take(outbound.origin) : () => undefined;
        if (!free) return reject(busy(connections));
        const call = new UpstreamCall(provider.timeouts, signal, resolve, reject, free);
        if (outbound) (mustBePublic ? outside : agent).dispatch(outbound, call);
        else if (provider.local) void dispatchLocally(provider.local, request, call);
      }),
    close: async () => {
      await Promise.all([agent.destroy(), outside.destroy()]);
    },
  };
}

/** How soon a call may find a socket free. */
const BUSY_RETRY_S = '1';

function busy(connections: number): UpstreamError {
  const message =
    `The gateway has ${connections} connections to this upstream, the most that it may ` +
    '(limits.connections): try again in a moment.';
  return new UpstreamError('busy', message, BUSY_RETRY_S);
}

/** Counts the calls to each origin, of which each has a socket to itself. */
class SocketCount {
  readonly #calls = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** Returns a function that gives the socket back, once; undefined if all are in use. */
  take(origin: string): (() => void) | undefined {
    const calls = this.#calls.get(origin) ?? 0;
    if (calls >= this.max) return undefined;
    this.#calls.set(origin, calls + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#calls.get(origin) ?? 1) - 1;
      if (left > 0) this.#calls.set(origin, left);
      else this.#calls.delete(origin);
    };
  }
}

/** The idle time of a socket. A time that the server announces replaces it. */
export function idleOf(origin: string | URL, idle_ms: number): number {
  return String(origin).startsWith('https:') ? idle_ms : Math.min(idle_ms, PLAIN_IDLE_MS);
}

function outgoing(provider: Provider, target: Target, request: WireRequest) {
  const { origin, path } = addressOf(target, request.path);
  // Credentials go to the provider's own hosts only.
  const isOwnHost = origin === target.origin || isOwn(provider, new URL(origin));
  const hasCredentials = request.credentials !== false && isOwnHost;
  // The operator's headers stand last, so that no codec can replace a credential.
  const headers: Record<string, string> = Object.assign(
    {},
    request.headers,
    hasCredentials ? target.headers : IDENTITY,
  );
  return { origin, path, method: request.method, headers, body: request.body ?? null };
}

/** The request as it is sent over the network: its URL, and all headers except `host`. */
export function outgoingRequest(provider: Provider, request: WireRequest) {
  const { origin, path, ...rest } = outgoing(provider, targetOf(provider), request);
  return { url: origin + path, ...rest };
}

function targetOf(provider: Provider): Target {
  const lowered = Object.entries(provider.headers).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  return { ...baseOf(provider), headers: { ...IDENTITY, ...Object.fromEntries(lowered) } };
}
