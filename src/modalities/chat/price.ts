import { maxTokenCost, isPlausible, readUsage, tokenCost, type Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import type { Provider } from '../../core/provider.js';
import type { TokenUsage } from '../../core/usage.js';
import type { ChatWork, ChatAnswer } from './call.js';
import type { ChatCall, ChatReply } from './codec.js';
import { countTokens } from '../../billing/tokens.js';
import type { Settle } from '../../pipeline/work.js';

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
function imageTokens({ size }: ChatWork, { limits }: Model, provider: Provider): number {
  const image_tokens = limits.image_tokens ?? provider.image_tokens ?? DEFAULT_IMAGE_TOKENS;
  // No upstream reads more of a file than its context holds.
  const page_tokens = size.pages * (PAGE_TEXT_TOKENS + image_tokens);
  return size.images * image_tokens + Math.min(page_tokens, limits.context ?? Infinity);
}

/** The same for audio. */
function audioTokens({ size }: ChatWork): number {
  return Math.ceil(size.audio_bytes / AUDIO_CHARACTERS_PER_TOKEN);
}

/** How often a provider reads, and bills, the prompt: once for each call that `n` takes. */
function promptReads({ n }: ChatCall, { operations }: Provider): number {
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

/** Who bills: the work done, by which upstream, under which hold (null where it is free). */
export interface Terms {
  work: ChatWork;
  model: Model;
  upstream: Upstream;
  hold_nano: bigint | null;
}

/**
 * The upstream's usage if it makes sense: whole numbers, not negative, not absurdly large, not
 * nothing for an answer with text. It is believed whatever it costs, also beyond the hold; but
 * tokens beyond the output limit that was sent are shown and not owed.
 */
export function billFromUsage(
  usage: unknown,
  texts: readonly string[],
  { work, model, upstream }: Terms,
): Bill | undefined {
  const tokens = readUsage(usage);
  if (!tokens || !isPlausible(tokens, model.limits, work.call.n)) return undefined;
  if (tokens.completion_tokens === 0 && texts.some((text) => text !== '')) return undefined;
  const cost_nano = tokenCost(tokens, upstream.price);
  const most = outputLimit(work.call);
  if (tokens.completion_tokens <= most) return { usage: tokens, cost_nano, estimated: false };
  const owed_nano = tokenCost(withOutput(tokens, most), upstream.price);
  const not_owed_nano = cost_nano - owed_nano;
  return { usage: tokens, cost_nano: owed_nano, not_owed_nano, estimated: false };
}

/** The same prompt with fewer output tokens, of which those of text count first. */
function withOutput(usage: TokenUsage, completion_tokens: number): TokenUsage {
  const { audio_output_tokens = 0 } = usage;
  const text = usage.completion_tokens - audio_output_tokens;
  const sound = Math.max(0, completion_tokens - text);
  return { ...usage, completion_tokens, audio_output_tokens: sound };
}

function outputLimit({ max_tokens, n }: ChatCall): number {
  return max_tokens === undefined ? Infinity : max_tokens * n;
}

/** A bill by our own count of the prompt and of the text that came, never above the hold. */
export async function estimatedBill(texts: readonly string[], terms: Terms): Promise<Bill> {
  const { work, model, upstream, hold_nano } = terms;
  const most = maxTokens(work, model, upstream.provider);
  const { audio_input_tokens } = most;
  const reads = promptReads(work.call, upstream.provider);
  const usage: TokenUsage = {
    prompt_tokens: Math.min(most.prompt_tokens, reads * (await promptTokens(terms))),
    completion_tokens: await completionTokens(texts, work),
    ...(audio_input_tokens !== undefined && { audio_input_tokens }),
  };
  const cost = tokenCost(usage, upstream.price);
  const capped = hold_nano !== null && cost > hold_nano ? hold_nano : cost;
  return { usage, cost_nano: capped, estimated: true };
}

async function completionTokens(texts: readonly string[], { call }: ChatWork): Promise<number> {
  let tokens = 0;
  for (const text of texts) {
    const counted = await countTokens(text);
    tokens += call.max_tokens === undefined ? counted : Math.min(counted, call.max_tokens);
  }
  return tokens;
}

const TOKENS_PER_MESSAGE = 4;
/** Fields that are part of the prompt too, as the bound knows. */
const PROMPT_FIELDS = ['tools', 'response_format'];

/** An estimate of the tokens of a prompt that is read once. */
export async function promptTokens({
  work,
  model,
  upstream,
}: Omit<Terms, 'hold_nano'>): Promise<number> {
  const { messages, fields } = work.call;
  const texts = messages.flatMap(({ content, name, tool_calls, tool_call_id }) => [
    ...(typeof content === 'string' ? [content] : (content ?? []).flatMap(textOf)),
    ...(name === undefined ? [] : [name]),
    ...(tool_call_id === undefined ? [] : [tool_call_id]),
    ...(tool_calls === undefined ? [] : [JSON.stringify(tool_calls)]),
  ]);
  for (const name of PROMPT_FIELDS) {
    if (fields[name] !== undefined) texts.push(JSON.stringify(fields[name]));
  }
  const text = await countTokens(texts.join('\n'));
  const around = TOKENS_PER_MESSAGE * work.size.messages;
  const media = imageTokens(work, model, upstream.provider) + audioTokens(work);
  return text + around + media;
}

function textOf(part: { type: string; text?: string }): string[] {
  return part.text === undefined ? [] : [part.text];
}

/** Charges a whole answer: by the upstream's usage, or by an estimate where that makes no sense. */
export async function chargeAnswer(
  { reply }: ChatAnswer,
  terms: Terms,
  settle: Settle,
): Promise<Bill> {
  const texts = textsOf(reply);
  const bill = billFromUsage(reply.usage, texts, terms) ?? (await estimatedBill(texts, terms));
  return settle(bill);
}

/** The text of a reply, choice by choice, for counting its tokens. */
function textsOf(reply: ChatReply): string[] {
  return reply.choices.map(
    ({ content, reasoning_content, tool_calls }) =>
      `${content ?? ''}${reasoning_content ?? ''}${tool_calls ? JSON.stringify(tool_calls) : ''}`,
  );
}
