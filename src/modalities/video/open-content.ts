import type { ClientConnection } from '../../http/client-connection.js';
import { GatewayError } from '../../core/errors.js';
import { bytesOfBase64, isDataUrl } from '../../lib/data-url.js';
import { isRecord } from '../../lib/objects.js';
import type { Services } from '../../pipeline/services.js';
import type { Provider, WireReply } from '../../core/provider.js';
import { readJson, errorOf } from '../../upstream/upstream-request.js';
import { followRedirects } from '../../upstream/redirects.js';
import { wireOf } from './submit-jobs.js';
import { slice, spanOf } from './range.js';
import type { ContentSource } from '../../core/task.js';
import { UpstreamError } from '../../core/upstream-error.js';

/** An opened video. `length` is in bytes, if it is known. */
export interface OpenVideo {
  body: AsyncIterable<Uint8Array>;
  length: number | undefined;
  /** Such as `bytes 0-9/100`, if `body` is the requested part. */
  content_range: string | undefined;
}

/** The provider's limit for whole answers is too short: a client may read a video slowly. */
const DOWNLOAD_MS = 3_600_000;
const PACKET_BYTES = 64 * 1024;
/** The types of answers that are not a video. */
const NO_VIDEO = /^(text\/|application\/(json|xml|xhtml|problem))/iu;

/**
 * Opens the bytes of a video. Throws `GatewayError` (416) for a range past its end,
 * `UpstreamError` for everything else.
 */
export async function openContent(
  { request, base64_at }: ContentSource,
  provider: Provider,
  range: string | undefined,
  { network, configuration }: Pick<Services, 'network' | 'configuration'>,
  { signal, memory }: ClientConnection,
): Promise<OpenVideo> {
  if (isDataUrl(request.path)) {
    const bytes = bytesOfBase64(request.path);
    return whole(packets(bytes), bytes.length, range);
  }
  const rangeHeader = base64_at || range === undefined ? {} : { range };
  const download = { noun: 'the video', total_ms: DOWNLOAD_MS, headers: rangeHeader };
  const answer = await followRedirects(wireOf(request), provider, download, network, signal);
  const { status, headers } = answer;
  const content_range = headers['content-range'];
  if (status === 416 && range !== undefined) throw unsatisfiable(content_range);
  if (status >= 400) throw await errorOf(answer, provider);
  if (base64_at) {
    const bytes = bytesAt(
      base64_at,
      await readJson(answer, configuration.limits.answer_bytes, memory),
    );
    return whole(packets(bytes), bytes.length, range);
  }
  if (NO_VIDEO.test(headers['content-type'] ?? '')) throw noVideo();
  if (status === 206 && range !== undefined && isRange(content_range)) {
    return { body: answer.body, length: lengthOf(answer), content_range };
  }
  if (status !== 200) throw noVideo();
  return whole(answer.body, lengthOf(answer), range);
}

/** The bytes of a video that is base64 at a path inside a JSON answer. */
function bytesAt(path: readonly (string | number)[], answer: unknown): Buffer {
  const found = path.reduce<unknown>((at, step) => {
    if (typeof step === 'number') return Array.isArray(at) ? at[step] : undefined;
    return isRecord(at) ? at[step] : undefined;
  }, answer);
  if (typeof found !== 'string' || found === '') throw noVideo();
  return Buffer.from(found, 'base64');
}

/** The whole video, or the range cut out of it here, as not every upstream supports ranges. */
function whole(
  body: AsyncIterable<Uint8Array>,
  size: number | undefined,
  range: string | undefined,
): OpenVideo {
  if (size === undefined || range === undefined) {
    return { body, length: size, content_range: undefined };
  }
  const span = spanOf(range, size);
  if (!span) throw unsatisfiable(`bytes */${size}`);
  const { start, end } = span;
  const content_range = `bytes ${start}-${end}/${size}`;
  return { body: slice(body, span), length: end - start + 1, content_range };
}

/** The length of the body; undefined for a compressed one, which is decompressed on arrival. */
function lengthOf({ headers }: WireReply): number | undefined {
  const encoding = headers['content-encoding'] ?? 'identity';
  const text = headers['content-length'] ?? '';
  return encoding === 'identity' && /^\d{1,15}$/u.test(text) ? Number(text) : undefined;
}

function isRange(content_range: string | undefined): content_range is string {
  return /^bytes \d+-\d+\/(\d+|\*)$/u.test(content_range ?? '');
}

async function* packets(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PACKET_BYTES) {
    yield bytes.subarray(at, at + PACKET_BYTES);
  }
}

function noVideo(): UpstreamError {
  return new UpstreamError('broken', 'The upstream does not give the video.');
}

function unsatisfiable(content_range: string | undefined): GatewayError {
  const headers = content_range === undefined ? {} : { 'content-range': content_range };
  const message = 'The video has no bytes in this range.';
  return new GatewayError('range_not_satisfiable', message, { headers });
}
