import type { Bill } from '../../billing/bill.js';
import type { Upstream } from '../../core/model.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Services } from '../../pipeline/services.js';
import type { Sending, Settle } from '../../pipeline/work.js';
import { AnswerTooLarge } from '../../upstream/answer-body.js';
import { jsonRequest, readError, requestOk } from '../../upstream/upstream-request.js';
import { isSpeechCodec, type SpeechCall, type SpeechCodec } from './codec.js';

/** Sound whose first bytes are here, so that its upstream is known to answer. */
export interface OpenSpeech {
  first: Uint8Array;
  rest: AsyncIterator<Uint8Array, unknown>;
}

/** What an upstream says instead of sound. */
const NO_SOUND = /^(text\/|application\/(json|xml|xhtml|problem))/iu;

/** Asks one upstream, once. Throws `UpstreamError` where it does not begin to speak. */
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
 * Carries sound to the client, and charges it before its last bytes go out. A client that leaves
 * pays as well: its upstream has begun to speak, and charges for the whole text. Sound that the
 * upstream cuts off costs nothing, and its client sees that it is not whole.
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
  // Nothing is learned from sound that nobody hears.
  client.on_disconnect = 'abort';
  const headers = { 'x-request-id': request_id, 'content-type': TYPES[format] };
  const head = { status: 200, headers, length: undefined };
  try {
    await client.sendBytes(head, withheld(first, rest, limits.stream_bytes, pay), limits.client_ms);
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

/** All bytes go out as they come but the last one, which waits until they are paid for. */
async function* withheld(
  first: Uint8Array,
  rest: OpenSpeech['rest'],
  most_bytes: number,
  pay: () => Promise<unknown>,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  let kept: Uint8Array = Buffer.alloc(0);
  let next: IteratorResult<Uint8Array, unknown> = { value: first };
  try {
    for (; !next.done; next = await rest.next()) {
      bytes += next.value.length;
      if (bytes > most_bytes) throw new AnswerTooLarge(most_bytes);
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
