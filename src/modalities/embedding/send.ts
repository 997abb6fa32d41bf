import type { Upstream } from '../../core/model.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Services } from '../../pipeline/services.js';
import { jsonRequest, readJson, requestOk } from '../../upstream/upstream-request.js';
import {
  isEmbeddingCodec,
  type EmbeddingCall,
  type EmbeddingCodec,
  type EmbeddingReply,
} from './codec.js';
import { vectorBytes } from './vector.js';

/** Sends the call to one upstream, once. Throws `UpstreamError` if that fails. */
export async function sendEmbedding(
  call: EmbeddingCall,
  upstream: Upstream,
  { signal, memory }: ClientConnection,
  { network, configuration }: Pick<Services, 'network' | 'configuration'>,
): Promise<EmbeddingReply> {
  const { provider } = upstream;
  const { codec, path } = operationOf(upstream);
  const encoded = codec.encode(call, upstream);
  const answer = await requestOk(network, provider, jsonRequest(encoded, path), signal);
  const body = await readJson(answer, configuration.limits.answer_bytes, memory);
  const reply = codec.decode(body, call, upstream);
  const { encoding_format: format } = call;
  memory?.grow(reply.vectors.reduce((sum, vector) => sum + vectorBytes(vector, format), 0));
  return reply;
}

function operationOf({ provider }: Upstream): { path: string; codec: EmbeddingCodec } {
  const operation = provider.operations.get('embedding');
  if (operation && isEmbeddingCodec(operation.codec)) {
    return { path: operation.path, codec: operation.codec };
  }
  throw new Error(`${provider.name} does not make embeddings.`);
}
