import type { Provider, WireRequest } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import { isOwn, urlOf } from './network.js';
import { masked } from './classify-error.js';
import type { Network } from './network-types.js';
import type { PollClient } from './poll-client.js';

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
    const said = error instanceof Error ? error.message : '';
    const cause = new Error(masked(said, provider).slice(0, REASON_CHARACTERS));
    const message = 'The gateway could not sign its request.';
    throw new UpstreamError('credentials', message, undefined, { cause });
  }
}

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
