import type { Provider, ServiceAccount, WireRequest } from '../core/provider.js';
import { isOwn, urlOf, skipBody } from './upstream-request.js';
import type { PollClient } from './poll-client.js';
import { fetchToken, isAtGoogle, type Token } from './google-token.js';
import type { Network } from './network-types.js';
import { UpstreamError } from '../core/upstream-error.js';
import { maskSecrets } from './classify-error.js';

/** Gets access tokens for service accounts, and caches them. */
export interface TokenSource {
  /** Throws `UpstreamError` if there is no token. Its message never shows the key. */
  token(account: ServiceAccount): Promise<string>;
  /** Drops a token that an upstream has refused, unless a newer one has replaced it. */
  drop(account: ServiceAccount, token: string): void;
}

/** A token is renewed this long before it expires, or after half its life if that is later. */
const EARLY_MS = 300_000;
const UNAUTHORIZED = 401;

interface CachedToken {
  /** Pending while the token is requested. */
  token: Promise<Token>;
  value: string | undefined;
  renew_ms: number;
}

/** Makes a source that keeps the token of each service account until shortly before it expires. */
export function createTokenSource(now: () => number): TokenSource {
  const cache = new WeakMap<ServiceAccount, CachedToken>();
  return {
    async token(account) {
      const cached = cache.get(account);
      if (cached && now() < cached.renew_ms) return (await cached.token).value;
      const entry: CachedToken = {
        token: fetchToken(account),
        value: undefined,
        renew_ms: Infinity,
      };
      cache.set(account, entry);
      try {
        const { value, life_ms } = await entry.token;
        entry.value = value;
        entry.renew_ms = now() + Math.max(life_ms - EARLY_MS, life_ms / 2);
        return value;
      } catch (error) {
        if (cache.get(account) === entry) cache.delete(account);
        throw error;
      }
    },
    drop(account, token) {
      if (cache.get(account)?.value === token) cache.delete(account);
    },
  };
}

/** Where the credentials of requests come from, beside the headers of their providers. */
export interface CredentialSource {
  tokens: TokenSource;
  /** Unix time in ms, for signatures. */
  now: () => number;
}

/** A network that signs the requests of a provider, or adds the token of its service account. */
export function withCredentials(network: Network, source: CredentialSource): Network {
  return {
    send: (provider, request, signal) => {
      if (!provider.service_account && !provider.signer) {
        return network.send(provider, request, signal);
      }
      return authorized(provider, request, source, async (sent, isLast) => {
        const reply = await network.send(provider, sent, signal);
        if (reply.status === UNAUTHORIZED && !isLast) await skipBody(reply);
        return reply;
      });
    },
    close: () => network.close(),
  };
}

/** A poll client that does the same. */
export function pollWithCredentials(poll_client: PollClient, source: CredentialSource): PollClient {
  return {
    ask: (provider, request, limit_bytes) =>
      authorized(provider, request, source, (sent) => poll_client.ask(provider, sent, limit_bytes)),
    close: () => poll_client.close(),
  };
}

/**
 * Sends a request with a signature, or with a token. If the token is refused, sends it once more
 * with a new token.
 */
async function authorized<Answer extends { status: number }>(
  provider: Provider,
  asked: WireRequest,
  { tokens, now }: CredentialSource,
  send: (request: WireRequest, isLast: boolean) => Promise<Answer>,
): Promise<Answer> {
  const request = await signed(provider, asked, now);
  const { service_account: account } = provider;
  if (!account || !mayCarry(provider, request)) return send(request, true);
  const token = await tokens.token(account);
  const reply = await send(signedWith(token, request), false);
  if (reply.status !== UNAUTHORIZED) return reply;
  tokens.drop(account, token);
  return send(signedWith(await tokens.token(account), request), true);
}

function signedWith(token: string, request: WireRequest): WireRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
}

/** Whether a request may have the token: it goes to the provider, or to another API of Google. */
function mayCarry(provider: Provider, { path, credentials }: WireRequest): boolean {
  if (credentials === false || provider.local) return false;
  const url = urlOf(provider, path);
  return isOwn(provider, url) || isGoogle(url);
}

/** Whether an address is one of Google's APIs. */
export function isGoogle(url: URL): boolean {
  return url.port === '' && isAtGoogle(url);
}

/** The maximum length of a signer's error in the log. */
const REASON_CHARACTERS = 300;

/**
 * Adds the headers of a signature to a request. The signature covers all headers that are sent. A
 * request to a foreign origin is not signed. Throws `UpstreamError` (credentials).
 */
async function signed(
  provider: Provider,
  request: WireRequest,
  now: () => number,
): Promise<WireRequest> {
  const { signer } = provider;
  if (!signer || request.credentials === false) return request;
  const url = urlOf(provider, request.path);
  if (!isOwn(provider, url)) return request;
  const { method, body } = request;
  const headers = lowered({ ...request.headers, ...provider.headers });
  try {
    const signature = await signer.sign({ method, url, headers, body }, signer.credentials, now());
    return { ...request, headers: { ...request.headers, ...signature } };
  } catch (error) {
    if (error instanceof UpstreamError) throw error;
    const reason = error instanceof Error ? error.message : '';
    const cause = new Error(maskSecrets(reason, provider).slice(0, REASON_CHARACTERS));
    const message = 'The gateway could not sign its request.';
    throw new UpstreamError('credentials', message, undefined, { cause });
  }
}

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
