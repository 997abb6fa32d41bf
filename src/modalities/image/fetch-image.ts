import type { Provider, WireAnswer, WireRequest } from '../../core/provider.js';
import { isListed, isOwn } from '../../upstream/provider-url.js';
import { readBytes, errorOf } from '../../upstream/upstream-request.js';
import { followRedirects, httpUrl, type Download } from '../../upstream/redirects.js';
import type { Network } from '../../upstream/network-types.js';
import type { LightAbortSignal } from '../../lib/in-flight.js';
import { UpstreamError } from '../../core/upstream-error.js';

/** An image is a file that is ready, so its download is short. */
const DOWNLOAD: Download = {
  noun: 'the image',
  total_ms: 60_000,
  headers: { accept: 'image/*' },
};

/**
 * The bytes of an image where an upstream says it is. An upstream must not make the gateway open
 * what only the gateway can reach, so the rule is: the provider's own origin, which the operator
 * chose, is asked with its credentials; so are, without, the hosts that its manifest lists as
 * `wire.image_hosts`; everything else must be on the public Internet, also after a redirect.
 * Throws `UpstreamError`.
 */
export async function fetchImage(
  address: string,
  provider: Provider,
  limit_bytes: number,
  network: Network,
  signal: LightAbortSignal,
): Promise<Buffer> {
  const url = urlOf(address);
  const request = requestTo(url, provider);
  const answer = await followRedirects(request, provider, DOWNLOAD, network, signal);
  return bytesOf(answer, provider, limit_bytes);
}

/** Whether an image is where only the gateway may have access, so that no client is sent there. */
export function isInside(address: string, provider: Provider): boolean {
  const url = urlOf(address);
  return isOwn(provider, url) || isListed(provider, url);
}

/** An http(s) URL. Throws `UpstreamError` for anything else. */
function urlOf(address: string): URL {
  const url = URL.canParse(address) ? httpUrl(new URL(address)) : null;
  if (url) return url;
  throw new UpstreamError('broken', 'The upstream gave an image without an address.');
}

function requestTo(url: URL, provider: Provider): WireRequest {
  return {
    method: 'GET',
    path: url.href,
    headers: {},
    body: undefined,
    credentials: isOwn(provider, url),
  };
}

async function bytesOf(
  answer: WireAnswer,
  provider: Provider,
  limit_bytes: number,
): Promise<Buffer> {
  if (answer.status === 200) return readBytes(answer, limit_bytes);
  const fault = await errorOf(answer, provider);
  // Whatever a store of files says, it is not the client's to mend.
  const message = 'The image could not be downloaded from the upstream.';
  throw new UpstreamError('broken', message, fault.retry_after, { cause: fault });
}
