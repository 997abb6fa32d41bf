import type { Upstream } from '../../core/model.js';
import type { ClientConnection } from '../../http/client-connection.js';
import { operationReader } from '../../pipeline/operation.js';
import type { Services } from '../../pipeline/services.js';
import { jsonRequest, readJson, requestOk } from '../../upstream/upstream-request.js';
import { isEmbeddingCodec, type EmbeddingCall, type EmbeddingReply } from './codec.js';
import { vectorBytes } from './vector.js';

const operationOf = operationReader('embedding', isEmbeddingCodec);

/** Sends the call to one upstream, once. Throws `UpstreamError` if that fails. */
export async function sendEmbedding(
  call: EmbeddingCall,
  upstream: Upstream,
  { signal, memory }: ClientConnection,
  { network, configuration }: Pick<Services, 'network' | 'configuration'>,
): Promise<EmbeddingReply> {
  const { provider } = upstream;
  const { codec, path } = operationOf(upstream.provider);
  const encoded = codec.encode(call, upstream);
  const answer = await requestOk(network, provider, jsonRequest(encoded, path), signal);
  const body = await readJson(answer, configuration.limits.answer_bytes, memory);
  const reply = codec.decode(body, call, upstream);
  const { encoding_format: format } = call;
  memory?.grow(reply.vectors.reduce((sum, vector) => sum + vectorBytes(vector, format), 0));
  return reply;
}
