import { ClientGone, drained, type Client } from '../../http/client-connection.js';
import { GatewayError } from '../../core/errors.js';
import { fact, type Context, type Reply, type Services } from '../../pipeline/stage.js';
import { openVideo, type OpenVideo } from './open-content.js';
import { upstreamOf } from './poll.js';
import { rangeOf } from './range.js';
import { UpstreamError } from '../../core/upstream-error.js';

/**
 * Carries a video from its upstream to the client (specification 4.6): as it comes, and no faster
 * than the client reads. Throws `GatewayError` (502) as long as no byte has come; later on the
 * connection is broken, so that nobody takes a part for the whole.
 */
export async function content(ctx: Context, client: Client, services: Services): Promise<Reply> {
  const routed = fact(ctx, 'task');
  const index = routed.kind === 'content' ? routed.index : 0;
  client.on_leave = 'abort';
  const video = await begin(ctx, client, services, index);
  const { res } = ctx;
  const { client_ms } = services.configuration.limits;
  ctx.respond = false;
  res.writeHead(video.content_range === undefined ? 200 : 206, headersOf(video, index));
  if (ctx.method === 'HEAD') client.stop(new ClientGone());
  else await carry(video, res, client, client_ms);
  res.setTimeout(client_ms);
  res.end();
  return { kind: 'content' };
}

interface Begun extends OpenVideo {
  first: Uint8Array;
  rest: AsyncIterator<Uint8Array>;
}

/** Opens the video and waits for its first bytes. */
async function begin(
  ctx: Context,
  client: Client,
  services: Services,
  index: number,
): Promise<Begun> {
  const { task } = fact(ctx, 'task');
  const place = await services.store.tasks.place(task.id, index);
  const upstream = upstreamOf(task, services);
  if (!place || !upstream) throw failed();
  const range = rangeOf(ctx.req.headers);
  try {
    const video = await openVideo(place, upstream.provider, range, services, client);
    const rest = video.body[Symbol.asyncIterator]();
    const { done, value } = await rest.next();
    if (done) throw new UpstreamError('broken', 'The upstream gave an empty video.');
    return { ...video, first: value, rest };
  } catch (error) {
    if (client.gone || !(error instanceof UpstreamError)) throw error;
    const { request_id } = ctx.state;
    services.log.warn({ request_id, provider: task.provider, err: error }, 'a video did not come');
    throw failed(error);
  }
}

type Response = Context['res'];

async function carry(
  { first, rest, length }: Begun,
  res: Response,
  client: Client,
  client_ms: number,
): Promise<void> {
  let sent = 0;
  for (let chunk: Uint8Array | undefined = first; chunk; chunk = await next(rest)) {
    if (client.gone) throw new ClientGone();
    sent += chunk.length;
    if (!res.write(chunk)) await drained(res, client_ms);
  }
  if (client.gone) throw new ClientGone();
  if (length !== undefined && sent !== length) {
    throw new UpstreamError('broken', `The upstream gave ${sent} of ${length} bytes.`);
  }
}

async function next(rest: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  const { done, value } = await rest.next();
  return done ? undefined : value;
}

function headersOf({ length, content_range }: OpenVideo, index: number): Record<string, string> {
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
