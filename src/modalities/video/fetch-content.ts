import type { Provider, WireAnswer, WireRequest } from '../../core/provider.js';
import { isOwn, urlOf } from '../../upstream/address.js';
import { readText } from '../../upstream/read-answer.js';
import type { Network } from '../../upstream/network-types.js';
import { wireOf } from './submit-jobs.js';
import type { LightAbortSignal } from '../../lib/abort.js';
import type { VideoRequest } from '../../core/task.js';
import { UpstreamError } from '../../core/upstream-error.js';

const REDIRECTS = 5;
const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);
/** As much of a redirect's body as is read to keep its socket. */
const UNREAD_BYTES = 1_024;
/** A client may read for long, so the provider's limit for whole answers is not for videos. */
const DOWNLOAD_MS = 3_600_000;

/**
 * Asks for a video, following redirects: the provider's credentials go to its own origin only, and
 * what its codec said to one origin is not repeated to another. Throws `UpstreamError`.
 */
export async function fetchVideo(
  request: VideoRequest,
  provider: Provider,
  range: string | undefined,
  network: Network,
  signal: LightAbortSignal,
): Promise<WireAnswer> {
  const patient = { ...provider, timeouts: { ...provider.timeouts, total_ms: DOWNLOAD_MS } };
  const wanted = range === undefined ? {} : { range };
  let wire = wireOf(request);
  for (let hop = 0; hop <= REDIRECTS; hop += 1) {
    const headers = { ...wire.headers, ...wanted };
    const answer = await network.send(patient, { ...wire, headers }, signal);
    if (!REDIRECT_STATUS.has(answer.status)) return answer;
    await readText(answer, UNREAD_BYTES);
    wire = redirected(wire, answer, provider);
  }
  throw new UpstreamError('broken', 'The upstream redirected the download too often.');
}

function redirected(wire: WireRequest, answer: WireAnswer, provider: Provider): WireRequest {
  const { location } = answer.headers;
  const url = provider.local || location === undefined ? null : target(wire, location, provider);
  if (!url) throw new UpstreamError('broken', 'The upstream redirected the download to nowhere.');
  const isKept = answer.status === 307 || answer.status === 308;
  const next: WireRequest = isKept ? wire : { ...wire, method: 'GET', body: undefined };
  if (isOwn(provider, url)) return { ...next, path: url.href };
  return { ...next, path: url.href, headers: {}, credentials: false };
}

function target({ path }: WireRequest, location: string, provider: Provider): URL | null {
  const from = urlOf(provider, path);
  if (!URL.canParse(location, from.href)) return null;
  const url = new URL(location, from);
  return /^https?:$/u.test(url.protocol) ? url : null;
}
