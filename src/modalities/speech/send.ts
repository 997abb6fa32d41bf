import type { Upstream } from '../../core/model.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ByteWriter } from '../../http/byte-writer.js';
import type { ClientConnection } from '../../http/client-connection.js';
import { operationReader } from '../../pipeline/operation.js';
import type { Services } from '../../pipeline/services.js';
import type { UnaryTerms } from '../../pipeline/unary-work.js';
import type { PaidAnswer, SendContext } from '../../pipeline/work.js';
import { ReplyTooLarge } from '../../upstream/reply-body.js';
import { jsonRequest, readError, requestOk } from '../../upstream/upstream-request.js';
import { isSpeechCodec, type SpeechCall } from './codec.js';
import { deliveredBill, speechBill } from './price.js';

const operationOf = operationReader('speech', isSpeechCodec);

/** Sound whose first bytes have arrived. */
export interface OpenSpeech {
  first: Uint8Array;
  rest: AsyncIterator<Uint8Array, unknown>;
}

/** The types of answers that are not sound. */
const NO_SOUND = /^(text\/|application\/(json|xml|xhtml|problem))/iu;

/** Sends the call to one upstream, once, and waits for the first bytes. Throws `UpstreamError`. */
export async function sendSpeech(
  call: SpeechCall,
  upstream: Upstream,
  { signal }: ClientConnection,
  { network }: Pick<Services, 'network'>,
): Promise<OpenSpeech> {
  const { codec, path } = operationOf(upstream.provider);
  const wire = jsonRequest(codec.encode(call, upstream), path);
  const answer = await requestOk(network, upstream.provider, wire, signal);
  if (NO_SOUND.test(answer.headers['content-type'] ?? '')) {
    await readError(answer);
    throw noSound();
  }
  const rest = answer.body[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done) throw noSound();
  return { first: first.value, rest };
}

function noSound(): UpstreamError {
  return new UpstreamError('broken', 'The upstream gave no sound.');
}

const TYPES: Record<SpeechCall['format'], string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** The sound that was delivered so far, and the time that it has waited for either side. */
interface Progress {
  bytes: number;
  client_ms: number;
  upstream_ms: number;
}

/**
 * Streams sound to the client, whose last byte waits for the charge. A client that disconnects pays
 * as well, because the upstream charges for the whole text. So does sound beyond the gateway's own
 * limit. Of sound that ends early otherwise, what was delivered is charged, whichever side kept the
 * other waiting. In each case the client sees that it is incomplete.
 */
export function speechAnswer(
  opened: OpenSpeech,
  { call, provider, price }: UnaryTerms<SpeechCall>,
  { client, request_id, notes, services }: SendContext,
): PaidAnswer {
  const { health, configuration } = services;
  const { stream_bytes, client_ms } = configuration.limits;
  const headers = { 'x-request-id': request_id, 'content-type': TYPES[call.format] };
  let writer: ByteWriter | undefined;
  let last: Uint8Array | undefined;
  let cut: { error: unknown } | undefined;
  return {
    provider: provider.name,
    streams: true,
    finish: async () => {
      const progress: Progress = { bytes: 0, client_ms: 0, upstream_ms: 0 };
      // The rest of the sound is not needed for the bill.
      client.on_disconnect = 'abort';
      writer = client.openBytes({ status: 200, headers, length: undefined }, client_ms);
      try {
        last = await sendAllButLast(opened, writer, stream_bytes, progress);
      } catch (error) {
        if (!client.disconnected) cut = { error };
      }
      const isCut = cut && !(cut.error instanceof ReplyTooLarge);
      const isSlowReader = progress.client_ms > progress.upstream_ms;
      if (isCut && !isSlowReader) health.failed(provider.name, cut?.error);
      else health.answered(provider.name);
      if (cut) notes.streamCut(cut.error);
      else notes.attemptEnded();
      return isCut ? deliveredBill(call, progress.bytes, price) : speechBill(call, price);
    },
    close: async () => {
      if (cut) throw cut.error;
      if (client.disconnected || !last) return;
      await writer?.write(last);
      writer?.end();
    },
    body: () => undefined,
  };
}

/** Yields the sound as it arrives, and adds up how long either side keeps it waiting. */
async function* timed(
  first: Uint8Array,
  rest: OpenSpeech['rest'],
  progress: Progress,
): AsyncGenerator<Uint8Array, void> {
  let next: IteratorResult<Uint8Array, unknown> = { value: first };
  let mark_ms = performance.now();
  const lap = (): number => {
    const before_ms = mark_ms;
    mark_ms = performance.now();
    return mark_ms - before_ms;
  };
  try {
    while (!next.done) {
      yield next.value;
      progress.client_ms += lap();
      try {
        next = await rest.next();
      } finally {
        progress.upstream_ms += lap();
      }
    }
  } finally {
    await rest.return?.();
  }
}

/** Sends the sound as it arrives, and resolves with its last byte, which waits for the charge. */
async function sendAllButLast(
  { first, rest }: OpenSpeech,
  writer: ByteWriter,
  max_bytes: number,
  progress: Progress,
): Promise<Uint8Array> {
  let bytes = 0;
  let kept: Uint8Array = Buffer.alloc(0);
  for await (const part of timed(first, rest, progress)) {
    bytes += part.length;
    if (bytes > max_bytes) throw new ReplyTooLarge(max_bytes);
    const chunk = Buffer.concat([kept, part]);
    kept = chunk.subarray(-1);
    progress.bytes += chunk.length - 1;
    if (chunk.length > 1) await writer.write(chunk.subarray(0, -1));
  }
  return kept;
}
