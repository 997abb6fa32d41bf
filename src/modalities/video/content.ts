import { ClientDisconnected, GatewayError } from '../../core/errors.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Services } from '../../pipeline/services.js';
import type { Answer, RoutedTask } from '../../pipeline/work.js';
import { openContent, type OpenVideo } from './open-content.js';
import { upstreamOf } from './poll.js';
import { deleted } from './result.js';
import { rangeOf } from './range.js';

/**
 * Streams a video from its upstream to the client (specification 4.6), no faster than the client
 * reads. Throws `GatewayError` (502) if it fails before the first byte. A later failure closes the
 * connection, so that no client takes a part for the whole video.
 */
export async function streamContent(
  routed: RoutedTask,
  request_id: string,
  client: ClientConnection,
  services: Services,
): Promise<Answer> {
  const video = await startVideo(routed, request_id, client, services);
  await sendVideo(video, client, services);
  return { body: () => undefined };
}

/** A video whose first bytes have arrived. */
export interface StartedVideo extends OpenVideo {
  index: number;
  /** All bytes, the first ones included. */
  chunks: AsyncIterable<Uint8Array>;
}

/** Sends a video, or only its headers for a HEAD request. */
export async function sendVideo(
  video: StartedVideo,
  client: ClientConnection,
  { configuration }: Services,
): Promise<void> {
  const head = {
    status: video.content_range === undefined ? 200 : 206,
    headers: headersOf(video),
    length: video.length,
  };
  const { client_ms } = configuration.limits;
  if (client.is_head) {
    client.stop(new ClientDisconnected());
    client.sendHead(head, client_ms);
  } else await client.sendBytes(head, video.chunks, client_ms);
}

/**
 * Opens a video and waits for its first bytes. Throws `GatewayError`: 502 if none arrive, 404 if
 * the video was deleted meanwhile, 416 for a range past its end.
 */
export async function startVideo(
  { task, index }: RoutedTask,
  request_id: string,
  client: ClientConnection,
  services: Services,
): Promise<StartedVideo> {
  client.on_disconnect = 'abort';
  const { tasks } = services.store;
  const place = await tasks.place(task.id, index);
  const upstream = upstreamOf(task, services);
  if (!place && !(await tasks.task(task.id))) throw deleted();
  if (!place || !upstream) throw failed();
  const range = rangeOf(client.req.headers);
  try {
    const video = await openContent(place, upstream.provider, range, services, client);
    const rest = video.body[Symbol.asyncIterator]();
    const { done, value } = await rest.next();
    if (done) throw new UpstreamError('broken', 'The upstream gave an empty video.');
    return { ...video, index, chunks: withFirst(value, rest) };
  } catch (error) {
    if (client.disconnected || !(error instanceof UpstreamError)) throw error;
    services.log.warn({ request_id, provider: task.provider, err: error }, 'a video did not come');
    throw failed(error);
  }
}

async function* withFirst(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function headersOf({ length, content_range, index }: StartedVideo): Record<string, string> {
  return {
    'content-type': 'video/mp4',
    'content-disposition': `inline; filename="video-${index}.mp4"`,
    'accept-ranges': 'bytes',
    ...(length !== undefined && { 'content-length': String(length) }),
    ...(content_range !== undefined && { 'content-range': content_range }),
  };
}

function failed(cause?: UpstreamError): GatewayError {
  const retry_after = cause?.retry_after;
  const headers = retry_after === undefined ? {} : { 'retry-after': retry_after };
  const message = 'The video could not be downloaded from the upstream.';
  return new GatewayError('upstream_error', message, { headers, cause });
}
