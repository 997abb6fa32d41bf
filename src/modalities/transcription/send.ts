import type { Upstream } from '../../core/model.js';
import type { Encoded } from '../../core/provider.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ClientConnection } from '../../http/client-connection.js';
import { operationReader } from '../../pipeline/operation.js';
import type { Services } from '../../pipeline/services.js';
import { wireRequest } from '../../upstream/form-request.js';
import { requestJson } from '../../upstream/upstream-request.js';
import {
  isTranscriptionCodec,
  type TranscriptionCall,
  type TranscriptionCodec,
  type TranscriptReply,
} from './codec.js';

const operationOf = operationReader('transcription', isTranscriptionCodec);

/** Sends the call to one upstream, once. Throws `UpstreamError` if that fails. */
export async function sendTranscription(
  call: TranscriptionCall,
  upstream: Upstream,
  client: ClientConnection,
  { network, configuration }: Pick<Services, 'network' | 'configuration'>,
): Promise<TranscriptReply> {
  const { encoded, path, codec } = encodeTranscription(call, upstream);
  const wire = await wireRequest(encoded, path);
  const { answer_bytes } = configuration.limits;
  const body = await requestJson(network, upstream.provider, wire, answer_bytes, client);
  return codec.decode(body, call, upstream);
}

/** Throws `UpstreamError` if the upstream does not take the call. */
export function encodeTranscription(
  call: TranscriptionCall,
  upstream: Upstream,
): { encoded: Encoded; path: string; codec: TranscriptionCodec } {
  const { codec, path: transcribe, translate } = operationOf(upstream.provider);
  const path = call.task === 'translate' ? translate : transcribe;
  if (path === undefined) {
    throw new UpstreamError('unsupported', 'This model does not translate what it hears.');
  }
  return { encoded: codec.encode(call, upstream), path, codec };
}
