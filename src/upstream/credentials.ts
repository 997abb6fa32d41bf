import type { Provider, ServiceAccount, WireRequest } from '../core/provider.js';
import { isOwn, urlOf } from './provider-url.js';
import type { PollClient } from './poll-client.js';
import { readText } from './upstream-request.js';
import { fetchToken, type Token } from './google-token.js';
import type { Network } from './network-types.js';
import { UpstreamError } from '../core/upstream-error.js';
import { masked } from './classify-error.js';

/** Gives access tokens of service accounts, and keeps each while it is valid. */
export interface TokenSource {
  /** Throws `UpstreamError` where no token can be had. Its message never shows the key. */
  token(account: ServiceAccount): Promise<string>;
  /** Forgets a token that an upstream has refused, unless a newer one has replaced it. */
  drop(account: ServiceAccount, token: string): void;
}

/** A token is renewed this long before its end, or after half its life where that is later. */
const EARLY_MS = 300_000;
const UNAUTHORIZED = 401;
/** The part of a refusal's body that is read, so that its socket can be used again. */
const UNREAD_BYTES = 1_024;

interface KeptToken {
  /** Requested, or here. */
  token: Promise<Token>;
  value: string | undefined;
  renew_ms: number;
}

export function createTokenSource(now: () => number): TokenSource {
  const kept = new WeakMap<ServiceAccount, KeptToken>();
  return {
    async token(account) {
      const known = kept.get(account);
      if (known && now() < known.renew_ms) return (await known.token).value;
      const asked: KeptToken = { token: fetchToken(account), value: undefined, renew_ms: Infinity };
      kept.set(account, asked);
      try {
        const { value, life_ms } = await asked.token;
        asked.value = value;
        asked.renew_ms = now() + Math.max(life_ms - EARLY_MS, life_ms / 2);
        return value;
      } catch (error) {
        if (kept.get(account) === asked) kept.delete(account);
        throw error;
      }
    },
    drop(account, token) {
      if (kept.get(account)?.value === token) kept.delete(account);
    },
  };
}

/** A network that adds the token of a provider's service account to requests to Google. */
export function withTokens(network: Network, tokens: TokenSource): Network {
  return {
    send: (provider, request, signal) => {
      if (!provider.service_account) return network.send(provider, request, signal);
      return authorized(provider, request, tokens, async (signed, isLast) => {
        const answer = await network.send(provider, signed, signal);
        if (answer.status === UNAUTHORIZED && !isLast) await readText(answer, UNREAD_BYTES);
        return answer;
      });
    },
    close: () => network.close(),
  };
}

/** A poll client that does the same. */
export function pollWithTokens(poll_client: PollClient, tokens: TokenSource): PollClient {
  return {
    ask: (provider, request, limit_bytes) =>
      authorized(provider, request, tokens, (signed) =>
        poll_client.ask(provider, signed, limit_bytes),
      ),
    close: () => poll_client.close(),
  };
}

/** Sends a request, and once more with a new token where the one that was kept is refused. */
async function authorized<Answer extends { status: number }>(
  provider: Provider,
  request: WireRequest,
  tokens: TokenSource,
  send: (request: WireRequest, isLast: boolean) => Promise<Answer>,
): Promise<Answer> {
  const { service_account: account } = provider;
  if (!account || !mayCarry(provider, request)) return send(request, true);
  const token = await tokens.token(account);
  const answer = await send(signedWith(token, request), false);
  if (answer.status !== UNAUTHORIZED) return answer;
  tokens.drop(account, token);
  return send(signedWith(await tokens.token(account), request), true);
}

function signedWith(token: string, request: WireRequest): WireRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
}

/** A token also opens Google's storage, so it may go there, but to no other foreign address. */
function mayCarry(provider: Provider, { path, credentials }: WireRequest): boolean {
  if (credentials === false || provider.local) return false;
  const url = urlOf(provider, path);
  return isOwn(provider, url) || isGoogle(url);
}

/** Whether an address is one of Google's APIs. */
export function isGoogle({ protocol, hostname, port }: URL): boolean {
  return protocol === 'https:' && port === '' && /(^|\.)googleapis\.com$/u.test(hostname);
}

/** Characters of a signer's own error that the log gets. */
const REASON_CHARACTERS = 300;

/** A network that signs the requests of providers with a signer; `now` is Unix time in ms. */
export function withSignatures(network: Network, now: () => number): Network {
  return {
    send: (provider, request, signal) => {
      if (!provider.signer) return network.send(provider, request, signal);
      return signed(provider, request, now).then((sent) => network.send(provider, sent, signal));
    },
    close: () => network.close(),
  };
}

/** A poll client that does the same. */
export function pollWithSignatures(poll_client: PollClient, now: () => number): PollClient {
  return {
    ask: async (provider, request, limit_bytes) =>
      poll_client.ask(provider, await signed(provider, request, now), limit_bytes),
    close: () => poll_client.close(),
  };
}

/**
 * The request with the headers of its signature, which is over all headers that go out. A request
 * to another origin than the provider's own gets none. Throws `UpstreamError` (credentials).
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
    const more = await signer.sign({ method, url, headers, body }, signer.credentials, now());
    return { ...request, headers: { ...request.headers, ...more } };
  } catch (error) {
    if (error instanceof UpstreamError) throw error;
    const reason = error instanceof Error ? error.message : '';
    const cause = new Error(masked(reason, provider).slice(0, REASON_CHARACTERS));
    const message = 'The gateway could not sign its request.';
    throw new UpstreamError('credentials', message, undefined, { cause });
  }
}

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
