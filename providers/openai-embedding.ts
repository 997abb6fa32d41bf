import { changedFields } from '../src/core/field-changes.js';
import { recordsIn } from '../src/lib/objects.js';
import type {
  EmbeddingCall,
  EmbeddingCodec,
  EmbeddingReply,
  Vector,
} from '../src/modalities/embedding/codec.js';
import type { Encoded } from '../src/core/provider.js';
import { broken, checked, isIndex } from './openai/answer.js';
import type { Upstream } from '../src/core/model.js';

/** Fields that only the gateway sets, as price or decoding depend on them. */
const FIXED = new Set(['model', 'input', 'encoding_format']);
const FLOAT_BYTES = 4;

/** The wire flags that this codec reads. */
export const wire_flags = ['embedding_base64'] as const;

/**
 * The embeddings wire. With `wire: { embedding_base64: true }` the upstream is asked for base64,
 * which is much smaller. Both forms are decoded.
 */
export const embedding: EmbeddingCodec = { encode, decode };

function encode(call: EmbeddingCall, upstream: Upstream): Encoded {
  const { inputs, dimensions, fields } = call;
  const body = changedFields({ ...fields, ...(dimensions && { dimensions }) }, upstream, FIXED);
  const asksBase64 = upstream.provider.wire.embedding_base64 === true;
  Object.assign(body, {
    model: upstream.model,
    // One input stands by itself: some upstreams take no list of token lists.
    input: inputs.length === 1 ? inputs[0] : inputs,
    ...(asksBase64 && { encoding_format: 'base64' }),
  });
  return { path: '', body };
}

function decode(body: unknown, { inputs }: EmbeddingCall, { provider }: Upstream): EmbeddingReply {
  const answer = checked(body, provider);
  const data = recordsIn(answer.data);
  if (data.length !== inputs.length) {
    throw broken(`The upstream gave ${data.length} embeddings for ${inputs.length} inputs.`);
  }
  const [usage = {}] = recordsIn([answer.usage]);
  return {
    vectors: inOrder(data).map((one) => vectorIn(one.embedding)),
    usage: { prompt_tokens: usage.prompt_tokens, completion_tokens: 0 },
  };
}

/** Sorts by index, if each vector has an index of its own. */
function inOrder(data: Record<string, unknown>[]): Record<string, unknown>[] {
  const indexes = data.map(({ index }) => index);
  if (!indexes.every(isIndex) || new Set(indexes).size < indexes.length) return data;
  return data.toSorted((a, b) => Number(a.index) - Number(b.index));
}

function vectorIn(embedding: unknown): Vector {
  if (typeof embedding === 'string') {
    const bytes = /^[A-Za-z0-9+/]+={0,2}$/u.test(embedding)
      ? Buffer.byteLength(embedding, 'base64')
      : 0;
    if (bytes > 0 && bytes % FLOAT_BYTES === 0) return embedding;
  } else if (Array.isArray(embedding) && embedding.length > 0 && embedding.every(Number.isFinite)) {
    return embedding as number[];
  }
  throw broken('The upstream gave an embedding that is none.');
}
