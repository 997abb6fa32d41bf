import type { ClientConnection } from '../../http/client-connection.js';
import { operationReader, type OperationWith } from '../../pipeline/operation.js';
import type { Services } from '../../pipeline/services.js';
import { wireRequest } from '../../upstream/form-request.js';
import { requestJson } from '../../upstream/upstream-request.js';
import { shares } from '../../lib/shares.js';
import {
  isImageCodec,
  type ImageCall,
  type ImageCodec,
  type ImageReply,
  type ImageWords,
  type MadeImage,
} from './codec.js';
import { pollImages } from './poll.js';
import { toClientFormat, type ImageDatum } from './to-client.js';
import { onceTakenUp, UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';
import type { Encoded } from '../../core/provider.js';
import { isRecord } from '../../lib/objects.js';

const operationOf = operationReader('image', isImageCodec);

/** The images of one request, ready for the client. `created` is in Unix seconds. */
export interface ImageAnswer {
  upstream: Upstream;
  created: number;
  data: readonly ImageDatum[];
  /** The images that the client pays for. */
  delivered: readonly MadeImage[];
  /** The usage that each upstream call reports. */
  usages: readonly unknown[];
  /** What the first call says of its images. */
  words: ImageWords;
  /** Names of fields that the upstream does not accept. */
  ignored: readonly string[];
}

/**
 * Makes the images at one upstream, with as many concurrent calls as `n` images need. If some calls
 * fail, keeps the images of the others; if all fail, throws the first `UpstreamError`.
 */
export async function sendImages(
  call: ImageCall,
  upstream: Upstream,
  client: ClientConnection,
  services: Services,
): Promise<ImageAnswer> {
  const operation = operationOf(upstream.provider);
  const asked = shares(call.n, operation.max).map((n) =>
    ask({ ...call, n }, upstream, operation, client, services),
  );
  const replies = await (asked.length > 1 ? onceTakenUp(fulfilled(asked)) : fulfilled(asked));
  const [first] = replies;
  const images = replies.flatMap(({ images: some, made = {} }) =>
    some.map((image) => ({ image, made })),
  );
  const answer = {
    upstream,
    usages: replies.map(({ usage }) => usage),
    words: first?.words ?? {},
    ignored: first?.ignored ?? [],
  };
  const created = Math.floor(services.now() / 1_000);
  // The client has disconnected: the answer was read only to bill the images.
  if (client.disconnected && !client.may_retry) {
    return { ...answer, created, data: [], delivered: images.map(({ made }) => made) };
  }
  // The client pays for the images even if it disconnects now.
  client.on_disconnect = 'drain';
  const converted = images.map(async ({ image, made }) => {
    const datum = await toClientFormat(image, call, upstream, client, services);
    return { datum, made };
  });
  const delivered = await onceTakenUp(fulfilled(converted));
  const data = delivered.map(({ datum }) => datum);
  return { ...answer, created, data, delivered: delivered.map(({ made }) => made) };
}

/** The values of the attempts that succeeded. Throws the first error if none did. */
async function fulfilled<T>(attempts: readonly Promise<T>[]): Promise<T[]> {
  const outcomes = await Promise.allSettled(attempts);
  const values = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = outcomes.find((one) => one.status === 'rejected');
  if (values.length === 0 && failed) throw failed.reason;
  return values;
}

async function ask(
  call: ImageCall,
  upstream: Upstream,
  { codec, path, edit }: OperationWith<ImageCodec>,
  client: ClientConnection,
  services: Services,
): Promise<ImageReply & { ignored: readonly string[] }> {
  const { provider } = upstream;
  const { network, configuration } = services;
  const encoded = codec.encode(call, upstream);
  const wire = await wireRequest(encoded, call.images ? (edit?.path ?? path) : path);
  const { answer_bytes } = configuration.limits;
  const first = await requestJson(network, provider, wire, answer_bytes, client);
  const { poll } = codec;
  const body = poll
    ? await onceTakenUp(pollImages(poll, first, { call, upstream }, client, services))
    : first;
  const reply = codec.decode(body, call, upstream);
  const { images } = reply;
  if (images.length === 0) throw new UpstreamError('broken', 'The upstream gave no image.');
  // Images beyond `n` are dropped, and not charged.
  return { ...reply, images: images.slice(0, call.n), ignored: leftOut(call, encoded) };
}

/** The names of the fields that are not sent. */
function leftOut({ own_fields = {} }: ImageCall, { body, ignored = [] }: Encoded): string[] {
  const sent = isRecord(body) ? body : {};
  return [...ignored, ...Object.keys(own_fields).filter((name) => !Object.hasOwn(sent, name))];
}
