import type { Bill } from '../../billing/bill.js';
import type { Upstream } from '../../core/model.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Services } from '../../pipeline/services.js';
import type { Sending, Settle } from '../../pipeline/work.js';
import { AnswerTooLarge } from '../../upstream/answer-body.js';
import { jsonRequest, readError, requestOk } from '../../upstream/upstream-request.js';
import { isSpeechCodec, type SpeechCall, type SpeechCodec } from './codec.js';

/** Sound whose first bytes have arrived. */
export interface OpenSpeech {
  first: Uint8Array;
  rest: AsyncIterator<Uint8Array, unknown>;
}

/** The types of answers that are not sound. */
const NO_SOUND = /^(text\/|application\/(json|xml|xhtml|problem))/iu;

/** Sends the call to one upstream, once, and waits for the first bytes. Throws `UpstreamError`. */
export async function speak(
  call: SpeechCall,
  upstream: Upstream,
  { signal }: ClientConnection,
  { network }: Pick<Services, 'network'>,
): Promise<OpenSpeech> {
  const { codec, path } = operationOf(upstream);
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

function operationOf({ provider }: Upstream): { path: string; codec: SpeechCodec } {
  const operation = provider.operations.get('speech');
  if (operation && isSpeechCodec(operation.codec)) {
    return { path: operation.path, codec: operation.codec };
  }
  throw new Error(`${provider.name} does not speak.`);
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

/**
 * Streams sound to the client, and charges it before the last byte is sent. A client that
 * disconnects pays as well, because the upstream charges for the whole text. Sound that the
 * upstream cuts off costs nothing, and the client sees that it is incomplete.
 */
export async function deliverSpeech(
  { first, rest }: OpenSpeech,
  { format }: SpeechCall,
  { provider }: Upstream,
  charge: { bill: Bill; settle: Settle },
  { client, request_id, notes, services }: Sending,
): Promise<Bill> {
  const { limits } = services.configuration;
  let paid: Promise<Bill> | undefined;
  const pay = (): Promise<Bill> => {
    notes.attemptEnded();
    return (paid ??= charge.settle(charge.bill));
  };
  // The rest of the sound is not needed for the bill.
  client.on_disconnect = 'abort';
  const headers = { 'x-request-id': request_id, 'content-type': TYPES[format] };
  const head = { status: 200, headers, length: undefined };
  try {
    await client.sendBytes(
      head,
      untilPaid(first, rest, limits.stream_bytes, pay),
      limits.client_ms,
    );
  } catch (error) {
    if (!client.disconnected) {
      services.health.failed(provider.name, error);
      notes.streamCut(error);
      throw error;
    }
  }
  services.health.answered(provider.name);
  return pay();
}

/** Yields all bytes as they arrive, except the last one, which waits for the charge. */
async function* untilPaid(
  first: Uint8Array,
  rest: OpenSpeech['rest'],
  max_bytes: number,
  pay: () => Promise<unknown>,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  let kept: Uint8Array = Buffer.alloc(0);
  let next: IteratorResult<Uint8Array, unknown> = { value: first };
  try {
    for (; !next.done; next = await rest.next()) {
      bytes += next.value.length;
      if (bytes > max_bytes) throw new AnswerTooLarge(max_bytes);
      const chunk = Buffer.concat([kept, next.value]);
      kept = chunk.subarray(-1);
      if (chunk.length > 1) yield chunk.subarray(0, -1);
    }
    await pay();
    yield kept;
  } finally {
    await rest.return?.();
  }
}
