import type { Upstream } from '../../core/model.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ClientConnection } from '../../http/client-connection.js';
import { operationReader } from '../../pipeline/operation.js';
import type { Services } from '../../pipeline/services.js';
import { wireRequest } from '../../upstream/form-request.js';
import { requestJson } from '../../upstream/upstream-request.js';
import { isTranscriptionCodec, type TranscriptionCall, type TranscriptReply } from './codec.js';

const operationOf = operationReader('transcription', isTranscriptionCodec);

/** Sends the call to one upstream, once. Throws `UpstreamError` if that fails. */
export async function sendTranscription(
  call: TranscriptionCall,
  upstream: Upstream,
  client: ClientConnection,
  { network, configuration }: Pick<Services, 'network' | 'configuration'>,
): Promise<TranscriptReply> {
  const { provider } = upstream;
  const { codec, path: transcribe, translate } = operationOf(upstream.provider);
  const path = call.task === 'translate' ? translate : transcribe;
  if (path === undefined) {
    throw new UpstreamError('unsupported', 'This model does not translate what it hears.');
  }
  const wire = await wireRequest(codec.encode(call, upstream), path);
  const { answer_bytes } = configuration.limits;
  const body = await requestJson(network, provider, wire, answer_bytes, client);
  return codec.decode(body, call, upstream);
}
