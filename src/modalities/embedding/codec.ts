import { hasMethods } from '../../lib/objects.js';
import type { Encoded } from '../../core/provider.js';
import type { Upstream } from '../../core/model.js';

/** A text, or the tokens of one. */
export type EmbeddingInput = string | readonly number[];

/** An embedding call in the gateway's own form: validated, with defaults. */
export interface EmbeddingCall {
  inputs: readonly EmbeddingInput[];
  dimensions: number | undefined;
  encoding_format: 'float' | 'base64';
  /** `user` and passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
}

/** One embedding: its numbers, or base64 of them as float32, little endian. */
export type Vector = readonly number[] | string;

export interface EmbeddingReply {
  /** One for each input, in their order. */
  vectors: readonly Vector[];
  /** Token usage as the upstream reports it, in `prompt_tokens` and `completion_tokens`. */
  usage: unknown;
}

/** Translates embeddings to one wire format. Pure, like `ChatCodec`; throws `UpstreamError`. */
export interface EmbeddingCodec {
  encode(call: EmbeddingCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: EmbeddingCall, upstream: Upstream): EmbeddingReply;
}

/** Whether an adapter's export is an embedding codec. */
export function isEmbeddingCodec(value: unknown): value is EmbeddingCodec {
  return hasMethods(value, ['encode', 'decode']);
}
