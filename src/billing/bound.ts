import type { ChatWork } from '../chat/call.js';
import type { TokenUsage } from '../chat/codec.js';
import type { Model, Upstream } from '../types.js';
import type { Work } from '../pipeline.js';
import { imageBound } from './image.js';
import { dearestCost } from './price.js';
import { videoBound } from './video.js';

/** Tokens that a chat template adds around a prompt and around each message, and more than that. */
const TEMPLATE_TOKENS = 64;
const MESSAGE_TOKENS = 16;
/** Base64 characters of audio to a token: below what any known provider packs into one. */
const AUDIO_CHARACTERS_PER_TOKEN = 64;

/**
 * The most tokens that a chat call can use. A token of a byte-level vocabulary is at least one
 * byte, so the bytes of the text bound its tokens whatever the language.
 */
export function mostTokens({ size, call }: ChatWork, model: Model): TokenUsage {
  return {
    prompt_tokens:
      TEMPLATE_TOKENS +
      MESSAGE_TOKENS * size.messages +
      size.text_bytes +
      size.images * model.limits.image_tokens +
      Math.ceil(size.audio_bytes / AUDIO_CHARACTERS_PER_TOKEN),
    completion_tokens: (call.max_tokens ?? 0) * call.n,
  };
}

/** What must be held before the work leaves, in nano-dollars: at the dearest upstream tried. */
export function boundOf(work: Work, model: Model, upstreams: readonly Upstream[]): bigint {
  if (work.kind === 'video') return videoBound(work.call, upstreams);
  if (work.kind === 'image') return imageBound(work.call, model, upstreams);
  return chatBound(work, model, upstreams);
}

/** Of a chat call: the tokens that it can use at the most. */
export function chatBound(work: ChatWork, model: Model, upstreams: readonly Upstream[]): bigint {
  const prices = upstreams.map(({ price }) => price);
  return dearestCost(mostTokens(work, model), prices);
}
