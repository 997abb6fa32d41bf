import type { Provider, WireAnswer, WireRequest } from '../../core/provider.js';
import { isListed, isOwn } from '../../upstream/address.js';
import { classifyError } from '../../upstream/classify-error.js';
import { readBytes, readError, readText } from '../../upstream/read-answer.js';
import type { Network } from '../../upstream/network-types.js';
import type { LightAbortSignal } from '../../lib/abort.js';
import { UpstreamError } from '../../core/upstream-error.js';

const REDIRECTS = 5;
const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);
/** As much of a redirect's body as is read to keep its socket. */
const UNREAD_BYTES = 1_024;
/** An image is a file that is ready: nobody waits longer for it. */
const DOWNLOAD_MS = 60_000;

/**
 * The bytes of an image where an upstream says it is. An upstream must not make the gateway open
 * what only the gateway can reach, so the rule is: the provider's own origin, which the operator
 * chose, is asked with its credentials; so are, without, the hosts that its manifest lists as
 * `wire.picture_hosts`; everything else must be on the public Internet, also after a redirect.
 * Throws `UpstreamError`.
 */
export async function fetchImage(
  address: string,
  provider: Provider,
  limit_bytes: number,
  network: Network,
  signal: LightAbortSignal,
): Promise<Buffer> {
  const timeouts = { ...provider.timeouts, total_ms: DOWNLOAD_MS };
  const patient: Provider = { ...provider, timeouts };
  let url = urlOf(address);
  for (let hop = 0; hop <= REDIRECTS; hop += 1) {
    const answer = await network.send(patient, requestTo(url, provider), signal);
    if (!REDIRECT_STATUS.has(answer.status)) return bytesOf(answer, provider, limit_bytes);
    await readText(answer, UNREAD_BYTES);
    url = urlOf(answer.headers['location'] ?? '', url);
  }
  throw new UpstreamError('broken', 'The upstream redirected the image too often.');
}

/** Whether an image is where only the gateway may have access, so that no client is sent there. */
export function isInside(address: string, provider: Provider): boolean {
  const url = urlOf(address);
  return isOwn(provider, url) || isListed(provider, url);
}

/** An http(s) URL. Throws `UpstreamError` for anything else. */
function urlOf(address: string, base?: URL): URL {
  if (URL.canParse(address, base?.href)) {
    const url = new URL(address, base);
    const isPlain = url.username === '' && url.password === '';
    if (/^https?:$/u.test(url.protocol) && isPlain) return url;
  }
  throw new UpstreamError('broken', 'The upstream gave an image without an address.');
}

function requestTo(url: URL, provider: Provider): WireRequest {
  return {
    method: 'GET',
    path: url.href,
    headers: { accept: 'image/*' },
    body: undefined,
    credentials: isOwn(provider, url),
  };
}

async function bytesOf(
  answer: WireAnswer,
  provider: Provider,
  limit_bytes: number,
): Promise<Buffer> {
  const { status, headers } = answer;
  if (status === 200) return readBytes(answer, limit_bytes);
  const fault = classifyError(status, headers, await readError(answer), provider);
  // Whatever a store of files says, it is not the client's to mend.
  const message = 'The image could not be downloaded from the upstream.';
  throw new UpstreamError('broken', message, fault.retry_after, { cause: fault });
}
