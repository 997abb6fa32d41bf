import { chat as openaiChat, wire_flags as chatFlags } from './openai.js';
import { embedding as openaiEmbedding, wire_flags as embeddingFlags } from './openai-embedding.js';
import { image as openaiImage, wire_flags as imageFlags } from './openai-image.js';
import type { ChatCodec } from '../src/modalities/chat/codec.js';
import type { EmbeddingCodec } from '../src/modalities/embedding/codec.js';
import type { ImageCodec } from '../src/modalities/image/codec.js';
import type { Upstream } from '../src/core/model.js';
import type { Encoded } from '../src/core/provider.js';

/**
 * The wire flags that this codec reads: its own, and those of `openai.ts`. The dated paths of
 * deployments have no Responses API.
 */
export const wire_flags: readonly string[] = [
  'api_version',
  ...chatFlags.filter((flag) => flag !== 'responses' && flag !== 'compaction'),
  ...embeddingFlags,
  ...imageFlags,
];

/**
 * OpenAI's wires on the dated paths of Azure, which name the deployment: the upstream's model. A
 * manifest's `wire: { api_version }` is the date.
 */
export const chat: ChatCodec = {
  ...openaiChat,
  encode: (call, upstream) =>
    deployed(openaiChat.encode(call, upstream), upstream, '/chat/completions'),
};

export const embedding: EmbeddingCodec = {
  ...openaiEmbedding,
  encode: (call, upstream) =>
    deployed(openaiEmbedding.encode(call, upstream), upstream, '/embeddings'),
};

export const image: ImageCodec = {
  ...openaiImage,
  encode: (call, upstream) =>
    deployed(openaiImage.encode(call, upstream), upstream, '/images/generations'),
};

function deployed(encoded: Encoded, { model, provider }: Upstream, path: string): Encoded {
  const query = new URLSearchParams({ 'api-version': String(provider.wire.api_version) });
  return {
    ...encoded,
    path: `/deployments/${encodeURIComponent(model)}${path}?${query.toString()}`,
  };
}
