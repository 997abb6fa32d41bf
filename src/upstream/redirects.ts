import type { Provider, WireReply, WireRequest } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import type { LightAbortSignal } from '../lib/light-abort.js';
import { isOwn, urlOf, skipBody } from './upstream-request.js';
import type { Network } from './network-types.js';

const MAX_REDIRECTS = 5;
const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);

/** The download that redirects belong to. */
export interface Download {
  /** The noun for error messages, such as `the video`. */
  noun: string;
  /** Replaces the provider's limit for a whole answer. */
  total_ms: number;
  /** Headers for every origin on the way. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Sends a request and follows its redirects. The provider's credentials, and the headers of the
 * request, go to the provider's own origin only. Answers with any status but a redirect. Throws
 * `UpstreamError`.
 */
export async function followRedirects(
  request: WireRequest,
  provider: Provider,
  { noun, total_ms, headers }: Download,
  network: Network,
  signal: LightAbortSignal,
): Promise<WireReply> {
  const timed = { ...provider, timeouts: { ...provider.timeouts, total_ms } };
  let wire = request;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const sent = { ...wire, headers: { ...wire.headers, ...headers } };
    const reply = await network.send(timed, sent, signal);
    if (!REDIRECT_STATUS.has(reply.status)) return reply;
    await skipBody(reply);
    const url = targetOf(wire, reply, provider);
    if (!url) throw new UpstreamError('broken', `The upstream redirected ${noun} to nowhere.`);
    wire = redirected(wire, url, reply.status, provider);
  }
  throw new UpstreamError('broken', `The upstream redirected ${noun} too often.`);
}

/** The http(s) URL of a redirect; null for any other. */
function targetOf({ path }: WireRequest, reply: WireReply, provider: Provider): URL | null {
  const { location } = reply.headers;
  if (provider.local || location === undefined) return null;
  const from = urlOf(provider, path);
  return URL.canParse(location, from.href) ? httpUrl(new URL(location, from)) : null;
}

/** The URL itself where it is http(s) and holds no user or password; null for any other. */
export function httpUrl(url: URL): URL | null {
  const isPlain = url.username === '' && url.password === '';
  return /^https?:$/u.test(url.protocol) && isPlain ? url : null;
}

function redirected(wire: WireRequest, url: URL, status: number, provider: Provider): WireRequest {
  const isKept = status === 307 || status === 308;
  const next: WireRequest = isKept ? wire : { ...wire, method: 'GET', body: undefined };
  if (isOwn(provider, url)) return { ...next, path: url.href };
  return { ...next, path: url.href, headers: {}, credentials: false };
}
