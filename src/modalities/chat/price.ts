import {
  addUsage,
  cacheSavings,
  callsCost,
  maxTokenCost,
  isPlausible,
  readPartialUsage,
  type Bill,
  type BilledCall,
  cappedByHold,
  leastTokens,
} from '../../billing/bill.js';
import { cardOf, cardsOf } from '../../billing/rate-card.js';
import { unpricedUnits } from '../../billing/unpriced.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import { callsFor, type Provider } from '../../core/provider.js';
import { NO_TOKENS, type TokenUsage } from '../../core/usage.js';
import type { ChatRequest, PromptSize } from './call.js';
import {
  isChatCodec,
  type ChatCall,
  type ChatChoice,
  type ChatReply,
  type PromptParts,
  type ToolCall,
} from './codec.js';
import { mostSeconds } from '../../lib/audio-length.js';
import { base64Of, headOf, isDataUrl } from '../../lib/data-url.js';
import { askedTier, maxToolCost } from './hosted-tools.js';
import { pictureSize, squaresOf, type PictureSize } from '../../lib/picture-size.js';
import { readFileSize, UNKNOWN_PAGES } from './file-size.js';
import type { MediaFile, MediaSizes } from '../../lib/media-reader.js';
import type { ChatMessage, ContentPart } from '../../schema-types/chat-completion.js';
import { withDefaults } from './defaults.js';
import { countTokens } from '../../billing/tokens.js';
import { plainId } from '../../lib/tool-id.js';
import type { ChoiceText, UsageReport } from './usage-report.js';
import { GatewayError } from '../../core/errors.js';

/** At least the tokens that a chat template adds around a prompt and around each message. */
const TEMPLATE_TOKENS = 64;
const MESSAGE_TOKENS = 16;
/** Known providers count at most so many tokens for a second of audio. */
const AUDIO_TOKENS_PER_SECOND = 32;
/**
 * Base64 characters of audio per token. At 8 kbit/s, the lowest useful bit rate, a second takes
 * 1,334 characters. Silence takes fewer: its packets are counted.
 */
const AUDIO_CHARACTERS_PER_TOKEN = 40;
/** The max tokens of text for which a page of a PDF is billed, beside its image. */
const PAGE_TEXT_TOKENS = 3_000;
/** Tokens of one image if neither the model nor the manifest of its provider has a number. */
const DEFAULT_IMAGE_TOKENS = 4_096;

/**
 * The max tokens that a chat call can use at a provider. Each token of a byte-level vocabulary has
 * at least one byte, so a text has at most as many tokens as bytes, in any language.
 */
export function maxTokens(request: ChatRequest, model: Model, provider: Provider): TokenUsage {
  const { size, call } = request;
  const reads = promptReads(call, provider);
  const most = { ...size, pages: size.pages + size.unread_pages };
  most.audio_seconds += size.unread_seconds;
  const audio_tokens = audioTokens(most, model);
  const audio_input_tokens = reads * audio_tokens;
  // Pages of files are read as images too.
  const image_tokens = size.images * imageMost(model, provider) + pageTokens(most, model, provider);
  const image_input_tokens = reads * image_tokens;
  return {
    prompt_tokens:
      reads *
      (TEMPLATE_TOKENS +
        MESSAGE_TOKENS * size.messages +
        size.text_bytes +
        image_tokens +
        audio_tokens +
        hiddenTokens(request, provider)),
    completion_tokens: (call.max_tokens ?? 0) * call.n,
    ...(audio_input_tokens > 0 && { audio_input_tokens }),
    ...(image_input_tokens > 0 && { image_input_tokens }),
  };
}

/** The most tokens of one image. */
function imageMost({ limits }: Model, provider: Provider): number {
  return limits.image_tokens ?? provider.image_tokens ?? DEFAULT_IMAGE_TOKENS;
}

/** The tokens of the pages of files, for the max cost and for estimates. */
function pageTokens({ pages }: PromptSize, model: Model, provider: Provider): number {
  // An upstream reads at most as much of a file as its context holds.
  const tokens = pages * (PAGE_TEXT_TOKENS + imageMost(model, provider));
  return Math.min(tokens, model.limits.context ?? Infinity);
}

/** The tokens of audio, for the max cost and for estimates. */
function audioTokens(size: PromptSize, { limits }: Model): number {
  const by_seconds = size.audio_seconds * AUDIO_TOKENS_PER_SECOND;
  const tokens = Math.ceil(Math.max(by_seconds, size.audio_bytes / AUDIO_CHARACTERS_PER_TOKEN));
  return Math.min(tokens, limits.context ?? Infinity);
}

/** No provider reads more pages. */
const MAX_PAGES = 1_000;
/** A tree of pages may name one page again and again, and be packed. */
const MAX_PAGES_PER_BYTE = 8;

/** The size of a prompt with the pages and seconds of its media, as far as they could be read. */
export function withMedia(
  size: PromptSize,
  media: readonly MediaFile[],
  sizes: MediaSizes,
): PromptSize {
  const sum = { ...size };
  for (const [at, { kind, data }] of media.entries()) {
    const read = sizes[at];
    if (kind === 'pdf') {
      const most = Math.min(MAX_PAGES, MAX_PAGES_PER_BYTE * bytesOf(data));
      const known = read ?? Math.min(UNKNOWN_PAGES, most);
      sum.pages += known;
      if (read === undefined) sum.unread_pages += most - known;
    } else if (read === undefined) {
      const base64 = String(data);
      const most = mostSeconds(headOf(base64), Buffer.byteLength(base64, 'base64'));
      sum.unread_seconds += most;
    } else sum.audio_seconds += read;
  }
  return sum;
}

function bytesOf(data: MediaFile['data']): number {
  return typeof data === 'string' ? Buffer.byteLength(data, 'base64') : data.length;
}

/**
 * How often a provider reads and bills the prompt: once for each of the calls that make `n`
 * choices.
 */
function promptReads({ n }: ChatCall, provider: Provider): number {
  return callsFor(provider, 'chat', n);
}

/** The tokens that a provider adds to a prompt. */
function hiddenTokens({ call }: ChatRequest, { hidden_tokens }: Provider): number {
  if (!hidden_tokens) return 0;
  // Some upstreams demand the tools of earlier calls, which are then sent though none is offered.
  const hasTools =
    call.fields.tools !== undefined || call.messages.some(({ tool_calls }) => tool_calls);
  return hidden_tokens.base + (hasTools ? hidden_tokens.tools : 0);
}

/** The max cost of a chat call in nano-dollars, at the most expensive of the upstreams. */
export function chatMaxCost(
  request: ChatRequest,
  model: Model,
  upstreams: readonly Upstream[],
): bigint {
  let highest = 0n;
  for (const upstream of upstreams) {
    const { price, provider } = upstream;
    const whole = withDefaults(request, upstream);
    const { call } = whole;
    const usage = maxTokens(whole, model, provider);
    const reads = promptReads(call, provider);
    const tier = askedTier(call, upstream);
    const fees = BigInt(reads) * (price.per_request ?? 0n) + maxToolCost(call, model, upstream);
    for (const card of cardsOf(price, { tier, prompt_tokens: usage.prompt_tokens / reads })) {
      const cost = maxTokenCost(usage, card) + fees;
      if (cost > highest) highest = cost;
    }
  }
  return highest;
}

/**
 * The max tokens of a chat call, at any of the upstreams. No upstream reads more of a prompt than
 * its context holds.
 */
export function chatMaxTokens(
  request: ChatRequest,
  model: Model,
  upstreams: readonly Upstream[],
): number {
  let highest = 0;
  for (const { provider } of upstreams) {
    const { prompt_tokens, completion_tokens } = maxTokens(request, model, provider);
    const readable = (model.limits.context ?? Infinity) * promptReads(request.call, provider);
    highest = Math.max(highest, Math.min(prompt_tokens, readable) + completion_tokens);
  }
  return highest;
}

/**
 * The terms of a bill: the request, the upstream that answered, when it was asked, what its calls
 * have reported, and the hold (null if it is free).
 */
export interface Terms {
  request: ChatRequest;
  model: Model;
  upstream: Upstream;
  /** Absent for a probe, for which nobody pays. */
  began_ms?: number;
  reports: readonly UsageReport[];
  hold_nano: bigint | null;
}

/**
 * The bill of an answer. Plausible usage that was reported is charged, even beyond the hold. What
 * was not reported is estimated, at most at the hold: the prompt, or the output by the texts that
 * came. Tokens beyond the output limit that was sent are shown but not owed.
 */
export async function chatBill(
  texts: readonly ChoiceText[],
  terms: Terms,
  isComplete: boolean,
): Promise<Bill> {
  const { request, hold_nano, reports } = terms;
  const calls: CallUsage[] = [];
  for (const report of reports) calls.push(await usageOfCall(report, texts, terms, isComplete));
  const usage = calls.map((call) => call.usage).reduce(addUsage, NO_TOKENS);
  const max = outputLimit(request.call);
  const owed = withOutput(calls, max);
  const cost = callsCost(owed);
  const bill: Bill = { usage, cost_nano: cost, ...cacheSavings(owed), estimated: false };
  const unpriced = unpricedUnits(usage, terms.upstream.price);
  if (unpriced.length > 0) bill.unpriced = unpriced;
  if (usage.completion_tokens > max) bill.not_owed_nano = callsCost(calls) - cost;
  // The upstream also takes its price for what the account does not owe.
  const { cost: own } = terms.upstream.price;
  if (own) {
    const taken = calls.map((call) => ({
      usage: call.usage,
      card: cardFor(call.usage, own, terms),
    }));
    bill.upstream_cost_nano = callsCost(taken);
  }
  if (isComplete && calls.every(({ is_reported }) => is_reported)) return bill;
  const reported = calls.map((call) => ({ usage: call.reported, card: call.card }));
  const reported_nano = callsCost(withOutput(reported, max));
  const cost_nano = reported_nano + cappedByHold(cost - reported_nano, hold_nano);
  return { ...bill, cost_nano, estimated: true };
}

/** The usage of one call with its card, and the part of it that the upstream has reported. */
interface CallUsage extends BilledCall {
  reported: TokenUsage;
  /** The upstream has reported all of it. */
  is_reported: boolean;
}

/**
 * The usage of one call. In an answer that is not complete, zero means that nothing was counted
 * yet, and text may have come after the output was counted.
 */
async function usageOfCall(
  report: UsageReport,
  texts: readonly ChoiceText[],
  terms: Terms,
  isComplete: boolean,
): Promise<CallUsage> {
  const { from, n, unseen, usage } = report;
  const own = [...texts.filter(({ index }) => index >= from && index < from + n), ...unseen];
  const reported = plausibleUsage(report, terms.model) ?? NO_TOKENS;
  const { prompt_tokens, completion_tokens } = reported;
  const isSilent = completion_tokens === 0 && own.some(({ text }) => text !== '');
  const saysOutput = reported !== NO_TOKENS && usage?.completion_tokens != null && !isSilent;
  const isFree = isComplete && saysOutput && usage?.prompt_tokens === 0;
  const saysPrompt = prompt_tokens > 0 || isFree;
  const isBehind = !isComplete && report.is_behind;
  const counted = saysOutput && !isBehind ? 0 : await outputTokens(own, terms.request);
  const { price } = terms.upstream;
  const asked = askedTier(terms.request.call, terms.upstream) ?? '';
  const tier = reported.tier ?? (price.tiers?.has(asked) ? asked : undefined);
  const used: TokenUsage = { ...reported };
  if (!saysPrompt) Object.assign(used, await estimatedPrompt(terms));
  used.completion_tokens = Math.max(completion_tokens, counted);
  if (tier !== undefined) used.tier = tier;
  return {
    usage: used,
    card: cardFor(used, price, terms),
    reported,
    is_reported: saysPrompt && saysOutput,
  };
}

/** The card of a call by a price. An upstream judges each reading of a prompt by itself. */
function cardFor({ tier, prompt_tokens }: TokenUsage, price: Price, { began_ms }: Terms): Price {
  return cardOf(price, { tier, began_ms, prompt_tokens });
}

/** The reported usage; undefined if it makes no sense. */
function plausibleUsage({ usage, n }: UsageReport, { limits }: Model): TokenUsage | undefined {
  const tokens = readPartialUsage(usage);
  return tokens && isPlausible(tokens, limits, n) ? tokens : undefined;
}

/** The calls with at most so many output tokens together: in each text, then audio, then images. */
function withOutput(calls: readonly BilledCall[], max: number): readonly BilledCall[] {
  if (calls.reduce((sum, { usage }) => sum + usage.completion_tokens, 0) <= max) return calls;
  let left = max;
  return calls.map(({ usage, card }) => {
    const completion_tokens = Math.min(usage.completion_tokens, left);
    left -= completion_tokens;
    if (completion_tokens === usage.completion_tokens) return { usage, card };
    const { audio_output_tokens: audio = 0, image_output_tokens: images = 0 } = usage;
    const text = usage.completion_tokens - audio - images;
    const audio_output_tokens = Math.min(audio, Math.max(0, completion_tokens - text));
    const image_output_tokens = Math.max(0, completion_tokens - text - audio);
    const cut = { completion_tokens, audio_output_tokens, image_output_tokens };
    return { usage: { ...usage, ...cut }, card };
  });
}

function outputLimit({ max_tokens, n }: ChatCall): number {
  return max_tokens === undefined ? Infinity : max_tokens * n;
}

/** An estimate of the prompt of one call, at most what the hold has for it. */
async function estimatedPrompt(terms: Terms): Promise<Omit<TokenUsage, 'completion_tokens'>> {
  const { request, model, upstream } = terms;
  const max = maxTokens(request, model, upstream.provider).prompt_tokens;
  const reads = promptReads(request.call, upstream.provider);
  const audio_input_tokens = audioTokens(request.size, model);
  const { prompt_tokens, image_tokens } = await promptEstimate(terms);
  return {
    prompt_tokens: Math.min(max / reads, prompt_tokens),
    ...(audio_input_tokens > 0 && { audio_input_tokens }),
    ...(image_tokens > 0 && { image_input_tokens: image_tokens }),
  };
}

/** The tokens of texts. Each choice has at most the limit that was sent. */
async function outputTokens(texts: readonly ChoiceText[], { call }: ChatRequest): Promise<number> {
  const { max_tokens = Infinity } = call;
  const counts = new Map<number, number>();
  for (const { index, text } of texts) {
    const tokens = (counts.get(index) ?? 0) + (await countTokens(text));
    counts.set(index, Math.min(tokens, max_tokens));
  }
  return [...counts.values()].reduce((sum, tokens) => sum + tokens, 0);
}

const TOKENS_PER_MESSAGE = 4;
const BYTES_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1_500;
/** Most providers count about a token for each square of so many pixels a side. */
const SQUARE = 28;

/** A guess at the tokens of a prompt, by its size alone, for a client that is shown it at once. */
export function guessPromptTokens({ size }: ChatRequest): number {
  return (
    Math.ceil(size.text_bytes / BYTES_PER_TOKEN) +
    TOKENS_PER_MESSAGE * size.messages +
    TOKENS_PER_IMAGE * size.images
  );
}

type Prompt = Pick<Terms, 'request' | 'model' | 'upstream'>;

/** An estimate of the tokens of a prompt that is read once. */
export async function promptTokens(prompt: Prompt): Promise<number> {
  return (await promptEstimate(prompt)).prompt_tokens;
}

/** The same with the part that is images. */
async function promptEstimate({
  request,
  model,
  upstream,
}: Prompt): Promise<{ prompt_tokens: number; image_tokens: number }> {
  const { call, size } = request;
  await request.texts?.unsealInTurns(call.messages);
  const { provider } = upstream;
  const operation = provider.operations.get('chat');
  const codec = isChatCodec(operation?.codec) ? operation.codec : undefined;
  const texts = call.messages.flatMap((message) => {
    const reasoning = codec?.reasoningSent?.(message, upstream) ?? '';
    return [...textsOfMessage(message), ...(reasoning === '' ? [] : [reasoning])];
  });
  const parts: PromptParts = {
    text_tokens: await countTokens(texts.join('\n')),
    tool_tokens: await fieldTokens(call.fields.tools),
    schema_tokens: await fieldTokens(call.fields.response_format),
    messages: size.messages,
    images: call.messages.flatMap(imageSizes),
    image_most: imageMost(model, provider),
  };
  const estimate = (all: PromptParts): number =>
    codec?.estimateTokens?.(all, call, upstream) ?? plainEstimate(all);
  const read = estimate(parts);
  return {
    prompt_tokens: read + pageTokens(size, model, provider) + audioTokens(size, model),
    image_tokens: parts.images.length > 0 ? read - estimate({ ...parts, images: [] }) : 0,
  };
}

function plainEstimate(parts: PromptParts): number {
  const { text_tokens, tool_tokens, schema_tokens, messages, images, image_most } = parts;
  const texts = text_tokens + tool_tokens + schema_tokens;
  const image_tokens = images.reduce(
    (sum, size) => sum + (size ? Math.min(image_most, squaresOf(size, SQUARE)) : image_most),
    0,
  );
  return texts + TOKENS_PER_MESSAGE * messages + image_tokens;
}

/** The tokens of a field that the model reads as part of the prompt, as `maxTokens` has it. */
async function fieldTokens(field: unknown): Promise<number> {
  return field === undefined ? 0 : countTokens(JSON.stringify(field));
}

function imageSizes({ content }: ChatMessage): (PictureSize | undefined)[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) =>
    part.type === 'image_url'
      ? [isDataUrl(part.image_url.url) ? pictureSize(base64Of(part.image_url.url)) : undefined]
      : [],
  );
}

/** Tool calls as text, without the signature that an ID may contain: the model does not read it. */
function callsText(calls: readonly ToolCall[]): string {
  return JSON.stringify(calls.map((call) => ({ ...call, id: plainId(call.id) })));
}

function textsOfMessage({ content, name, tool_calls, tool_call_id }: ChatMessage): string[] {
  return [
    ...(typeof content === 'string' ? [content] : (content ?? []).flatMap(textsOfPart)),
    ...(name === undefined ? [] : [name]),
    ...(tool_call_id === undefined ? [] : [plainId(tool_call_id)]),
    ...(tool_calls === undefined ? [] : [callsText(tool_calls)]),
  ];
}

function textsOfPart(part: ContentPart): string[] {
  if (part.type === 'text') return [part.text];
  if (part.type !== 'file') return [];
  const { filename = '', file_data } = part.file;
  // The pages of other files are counted already.
  const size = readFileSize(file_data);
  return 'text' in size ? [filename, Buffer.from(size.text, 'base64').toString()] : [filename];
}

/** The bill of a whole answer. */
export function replyBill({ choices }: ChatReply, terms: Terms): Promise<Bill> {
  const texts = choices.map((choice) => ({ index: choice.index, text: textOfChoice(choice) }));
  return chatBill(texts, terms, true);
}

/** All text of a choice, for counting its tokens. */
export function textOfChoice({ content, reasoning_content, tool_calls }: ChatChoice): string {
  return `${content ?? ''}${reasoning_content ?? ''}${tool_calls ? callsText(tool_calls) : ''}`;
}

/**
 * Refuses a prompt whose text is certainly longer than the model's context, before any money is
 * held for it. Throws `GatewayError` in the words of Anthropic, which its clients read.
 */
export function refuseTooLong({ call, size, names, texts }: ChatRequest, { limits }: Model): void {
  const { context = Infinity } = limits;
  // All bytes that count in the hold are more than those of the messages.
  if (leastTokens(size.text_bytes) <= context) return;
  texts?.unseal(call.messages);
  const tokens = leastTokens(call.messages.reduce((sum, one) => sum + textBytes(one), 0));
  if (tokens <= context) return;
  const message = `The prompt is too long: ${tokens} tokens > ${context} maximum, at the least.`;
  const param = names?.ofField('messages') ?? 'messages';
  throw new GatewayError('context_length_exceeded', message, { param });
}

/** The bytes of a message that every upstream reads as text. */
function textBytes({ content }: ChatMessage): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  const parts = content ?? [];
  return parts.reduce(
    (sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0),
    0,
  );
}
