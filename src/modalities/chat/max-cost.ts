import { maxTokenCost } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import type { Provider } from '../../core/provider.js';
import type { TokenUsage } from '../../core/usage.js';
import type { ChatWork } from './call.js';
import type { ChatCall } from './codec.js';

/** Tokens that a chat template adds around a prompt and around each message, and more than that. */
const TEMPLATE_TOKENS = 64;
const MESSAGE_TOKENS = 16;
/**
 * Base64 characters of audio to a token. 32 tokens a second are the most that a known provider
 * makes of sound, and at 8 kbit/s, the least that is of use, a second takes 1,334 characters.
 */
const AUDIO_CHARACTERS_PER_TOKEN = 40;
/** The most text that a page of a PDF is billed as, beside its picture. */
const PAGE_TEXT_TOKENS = 3_000;
/** Tokens of one image where neither the model nor its provider's manifest says how many. */
const DEFAULT_IMAGE_TOKENS = 4_096;

/**
 * The most tokens that a chat call can use at a provider. A token of a byte-level vocabulary is at
 * least one byte, so the bytes of the text bound its tokens whatever the language.
 */
export function maxTokens(work: ChatWork, model: Model, provider: Provider): TokenUsage {
  const { size, call } = work;
  const reads = promptReads(call, provider);
  const audio_input_tokens = reads * audioTokens(work);
  return {
    prompt_tokens:
      reads *
      (TEMPLATE_TOKENS +
        MESSAGE_TOKENS * size.messages +
        size.text_bytes +
        imageTokens(work, model, provider) +
        audioTokens(work) +
        hiddenTokens(work, provider)),
    completion_tokens: (call.max_tokens ?? 0) * call.n,
    ...(audio_input_tokens > 0 && { audio_input_tokens }),
  };
}

/** What images and the pages of files are taken to cost, in a bound as in an estimate. */
export function imageTokens({ size }: ChatWork, { limits }: Model, provider: Provider): number {
  const image_tokens = limits.image_tokens ?? provider.image_tokens ?? DEFAULT_IMAGE_TOKENS;
  // No upstream reads more of a file than its context holds.
  const page_tokens = size.pages * (PAGE_TEXT_TOKENS + image_tokens);
  return size.images * image_tokens + Math.min(page_tokens, limits.context ?? Infinity);
}

/** The same for audio. */
export function audioTokens({ size }: ChatWork): number {
  return Math.ceil(size.audio_bytes / AUDIO_CHARACTERS_PER_TOKEN);
}

/** How often a provider reads, and bills, the prompt: once for each call that `n` takes. */
export function promptReads({ n }: ChatCall, { operations }: Provider): number {
  return Math.max(1, Math.ceil(n / (operations.get('chat')?.max ?? n)));
}

/** What a provider writes into a prompt by itself. */
function hiddenTokens({ call }: ChatWork, { hidden_tokens }: Provider): number {
  if (!hidden_tokens) return 0;
  return hidden_tokens.base + (call.fields['tools'] === undefined ? 0 : hidden_tokens.tools);
}

/** Of a chat call: the tokens that it can use at the most, at the dearest upstream tried. */
export function chatMaxCost(work: ChatWork, model: Model, upstreams: readonly Upstream[]): bigint {
  let dearest = 0n;
  for (const { price, provider } of upstreams) {
    const cost = maxTokenCost(maxTokens(work, model, provider), price);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
}
