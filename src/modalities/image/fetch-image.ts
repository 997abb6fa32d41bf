import type { Provider, WireReply, WireRequest } from '../../core/provider.js';
import { isListed, isOwn, readBytes, errorOf } from '../../upstream/upstream-request.js';
import { followRedirects, httpUrl, type Download } from '../../upstream/redirects.js';
import type { Network } from '../../upstream/network-types.js';
import { sniffImageType, UNKNOWN_TYPE } from '../../lib/image-type.js';
import type { LightAbortSignal } from '../../lib/light-abort.js';
import { UpstreamError } from '../../core/upstream-error.js';

/** Types of answers that are not an image: SVG may be plain text or XML. */
const PAGE = /^(text\/html|application\/(json|xhtml|problem))/iu;

/** An image is a finished file, so its download is short. */
const DOWNLOAD: Download = {
  noun: 'the image',
  total_ms: 60_000,
  headers: { accept: 'image/*' },
};

/**
 * Downloads an image from the URL that an upstream gave. An upstream must not make the gateway open
 * addresses of its private network. Allowed are: the provider's own origin, with its credentials;
 * the hosts that its manifest lists as `wire.image_hosts`, without credentials; and addresses on
 * the public Internet. The same holds for each redirect. Throws `UpstreamError`.
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

/** Whether perhaps only the gateway can open the URL, so that clients must not get it. */
export function isInternal(address: string, provider: Provider): boolean {
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
  answer: WireReply,
  provider: Provider,
  limit_bytes: number,
): Promise<Buffer> {
  if (answer.status === 200) {
    const bytes = await readBytes(answer, limit_bytes);
    if (!isPage(bytes, answer)) return bytes;
    throw new UpstreamError('broken', 'The upstream does not give the image.');
  }
  const fault = await errorOf(answer, provider);
  // An error of a file server is never an error of the client.
  const message = 'The image could not be downloaded from the upstream.';
  throw new UpstreamError('broken', message, fault.retry_after, { cause: fault });
}

/** Whether a file is a page about the image. Some servers give a wrong type to an image itself. */
function isPage(bytes: Buffer, { headers }: WireReply): boolean {
  return PAGE.test(headers['content-type'] ?? '') && sniffImageType(bytes) === UNKNOWN_TYPE;
}
