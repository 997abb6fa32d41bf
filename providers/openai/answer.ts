import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type { Provider } from '../../src/core/provider.js';
import type { UpstreamUsage } from '../../src/core/usage.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import { UpstreamError, type Fault } from '../../src/core/upstream-error.js';
import type { Annotation, ChatCall } from '../../src/modalities/chat/codec.js';
import { toolCountsIn } from './tool-counts.js';

/** Finish reasons that mean that the upstream failed in the middle. */
const FAILED: ReadonlyMap<unknown, Fault> = new Map<unknown, Fault>([
  ['error', 'broken'],
  ['abort', 'broken'],
  ['insufficient_system_resource', 'overloaded'],
]);

/** The server could not read a call that its model wrote; Gemini's compatible wire says so too. */
const SPOILT = /malformed_(?:function_call|tool_use|model_output|response)/iu;

export function broken(message: string): UpstreamError {
  return new UpstreamError('broken', message);
}

export function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** A body or chunk that is no error. Throws the `UpstreamError` of one that is. */
export function checked(body: unknown, provider: Provider): Record<string, unknown> {
  const answer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(answer)) throw broken("The upstream's answer is not a JSON object.");
  if (answer.error || answer.object === 'error') throw classifyErrorInside(answer, provider);
  return answer;
}

/** How a choice ended, in the upstream's own word. Throws where the word means a failure. */
export function finishOf(choice: Record<string, unknown>, provider: Provider): string | null {
  if (choice.error) throw classifyErrorInside(choice, provider);
  const word = choice.finish_reason;
  const fault = FAILED.get(word) ?? (SPOILT.test(textOfValue(word)) ? 'broken' : undefined);
  if (fault) throw new UpstreamError(fault, 'The upstream failed while it was answering.');
  return typeof word === 'string' && word !== '' ? word : null;
}

/** Text for the client, and reasoning, kept apart wherever the upstream put them. */
export interface ReplyText {
  content: string | null;
  /** The content is a refusal. */
  is_refusal?: true;
  reasoning: string;
}

/** Reads a message or a delta. A refusal becomes the text if there is no other. */
export function replyTextIn(message: Record<string, unknown>): ReplyText {
  const { content, reasoning } = partsIn(message.content);
  const refusal = content ? '' : textOfValue(message.refusal);
  return {
    content: refusal || content,
    ...(refusal && { is_refusal: true }),
    // The same reasoning may stand under two names; one of them is enough.
    reasoning:
      textOfValue(message.reasoning_content) ||
      textOfValue(message.reasoning) ||
      detailsText(message.reasoning_details) ||
      reasoning,
  };
}

/** The web pages that a message or a delta names as its sources; undefined if it names none. */
export function annotationsIn({ annotations }: Record<string, unknown>): Annotation[] | undefined {
  if (!annotations) return undefined;
  const found = recordsIn(annotations).flatMap(({ type, url_citation: cited }) =>
    isRecord(cited) ? annotationOf({ ...cited, type }, 0) : [],
  );
  return found.length > 0 ? found : undefined;
}

/** An annotation of a text that begins at `from`, in its flat form. */
export function annotationOf(
  { type, url, title, start_index, end_index }: Record<string, unknown>,
  from: number,
): Annotation[] {
  if (type !== 'url_citation' || typeof url !== 'string') return [];
  const place = {
    start_index: from + (isIndex(start_index) ? start_index : 0),
    end_index: from + (isIndex(end_index) ? end_index : 0),
  };
  return [{ type, url_citation: { url, title: textOfValue(title), ...place } }];
}

function detailsText(details: unknown): string {
  if (details === undefined) return '';
  return recordsIn(details)
    .map((detail) => textOfValue(detail.text) || textOfValue(detail.summary))
    .join('');
}

function partsIn(content: unknown): ReplyText {
  if (content === null || content === undefined) return { content: null, reasoning: '' };
  if (typeof content === 'string') return { content, reasoning: '' };
  if (!Array.isArray(content)) throw broken("The upstream's text is not text.");
  const parts = recordsIn(content);
  return {
    content: parts.map((part) => (part.type === 'thinking' ? '' : textOfValue(part.text))).join(''),
    reasoning: parts.map((part) => thinkingIn(part.thinking)).join(''),
  };
}

function thinkingIn(thinking: unknown): string {
  const nested = recordsIn(thinking).map((part) => textOfValue(part.text));
  return textOfValue(thinking) + nested.join('');
}

export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What an answer says of its cost outside of its usage. */
export interface Beside {
  /** The service tier, which a stream may tell in an earlier chunk. */
  tier: string | undefined;
  /** The tools that the server has run, as its messages list them. */
  tool_calls: Readonly<Record<string, unknown>> | undefined;
}

/** The service tier that an answer or chunk names. */
export function tierIn(answer: Record<string, unknown>): string | undefined {
  const { service_tier: tier, usage } = answer;
  if (typeof tier === 'string') return tier;
  if (!isRecord(usage)) return undefined;
  if (typeof usage.service_tier === 'string') return usage.service_tier;
  const { extra_properties: extra } = usage;
  const google = isRecord(extra) && isRecord(extra.google) ? extra.google : {};
  return trafficTier(google.traffic_type);
}

/** The tier of Google's type of traffic, such as `ON_DEMAND_FLEX`. */
export function trafficTier(type: unknown): string | undefined {
  if (typeof type !== 'string' || type === '') return undefined;
  return type.toLowerCase().replace(/^on_demand_(?=.)/u, '');
}

/** The usage of an answer or chunk, in any of its known places; undefined if there is none. */
export function usageIn(
  answer: Record<string, unknown>,
  wire: Provider['wire'],
  { tier, tool_calls }: Beside,
): UpstreamUsage | undefined {
  const vendor = answer.x_groq;
  const usage = answer.usage ?? (isRecord(vendor) ? vendor.usage : undefined);
  if (!isRecord(usage)) return undefined;
  const { completion_tokens, total_tokens } = usage;
  const prompt_tokens = withSound(usage);
  const isShort = wire.completion_from_total === true && isIndex(total_tokens);
  const read: UpstreamUsage = {
    prompt_tokens,
    completion_tokens:
      isShort && isIndex(prompt_tokens) ? total_tokens - prompt_tokens : completion_tokens,
  };
  readInputClasses(usage, read);
  readOutputClasses(usage, read);
  const counts = toolCountsIn(usage) ?? tool_calls;
  if (tier !== undefined) read.service_tier = tier;
  if (counts) read.tool_calls = counts;
  return read;
}

/** Cached tokens have three names: OpenAI's own, DeepSeek's, and that of Together and Moonshot. */
function readInputClasses(usage: Record<string, unknown>, read: UpstreamUsage): void {
  const { prompt_tokens } = read;
  const details = detailsIn(usage, 'prompt_tokens_details');
  const sound = isIndex(prompt_tokens) ? prompt_tokens - Number(usage.prompt_tokens) : 0;
  const cached = details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  const written = details?.cache_write_tokens;
  const audio = details?.audio_tokens ?? (sound > 0 ? sound : undefined);
  const image = details?.image_tokens;
  if (cached == null && written == null && audio == null && image == null) return;
  read.prompt_tokens_details = {
    ...(cached != null && { cached_tokens: cached }),
    ...(written != null && { cache_write_tokens: written }),
    ...(audio != null && { audio_tokens: audio }),
    ...(image != null && { image_tokens: image }),
  };
}

function readOutputClasses(usage: Record<string, unknown>, read: UpstreamUsage): void {
  const details = detailsIn(usage, 'completion_tokens_details');
  const reasoning = details?.reasoning_tokens ?? usage.reasoning_tokens;
  const audio = details?.audio_tokens;
  const image = details?.image_tokens;
  if (reasoning == null && audio == null && image == null) return;
  read.completion_tokens_details = {
    ...(reasoning != null && { reasoning_tokens: reasoning }),
    ...(audio != null && { audio_tokens: audio }),
    ...(image != null && { image_tokens: image }),
  };
}

function detailsIn(
  usage: Record<string, unknown>,
  name: string,
): Record<string, unknown> | undefined {
  const details = usage[name];
  return isRecord(details) ? details : undefined;
}

/** Audio models of these wires take 12.5 tokens for a second of sound. */
const TOKENS_PER_SECOND = 12.5;

/** Some count sound in seconds beside the prompt's tokens, and its tokens only in the total. */
function withSound(usage: Record<string, unknown>): unknown {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_audio_seconds: seconds } = usage;
  if (typeof seconds !== 'number' || !(seconds > 0) || !isIndex(prompt_tokens)) {
    return prompt_tokens;
  }
  if (isIndex(total_tokens) && isIndex(completion_tokens)) {
    const all = total_tokens - completion_tokens;
    if (all > prompt_tokens) return all;
  }
  const sound = Math.ceil(seconds * TOKENS_PER_SECOND);
  return prompt_tokens < sound ? prompt_tokens + sound : prompt_tokens;
}

/** The state of a text that may begin with reasoning, and the characters that are held back. */
export interface Think {
  phase: 'start' | 'inside' | 'after' | 'outside';
  held: string;
}

/** What a fragment adds to the text and to the reasoning. */
export interface Split {
  content: string;
  reasoning: string;
}

const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * Whether a text may begin with reasoning: the wire has the flag for it, and the client does not
 * use Groq's field for the raw text.
 */
export function hasThinkTags(call: ChatCall, wire: Provider['wire']): boolean {
  return wire.think_tags === true && call.fields.reasoning_format !== 'raw';
}

export function newThink(): Think {
  return { phase: 'start', held: '' };
}

/**
 * Splits the next fragment of a text into content and reasoning. Reasoning is at the very
 * beginning, between `<think>` and `</think>`. A tag may be split anywhere. With `isLast` nothing
 * is held back.
 */
export function splitThink(think: Think, fragment: string, isLast: boolean): Split {
  let rest = think.held + fragment;
  think.held = '';
  let reasoning = '';
  if (think.phase === 'start') {
    const begun = rest.trimStart();
    if (begun.startsWith(OPEN)) {
      think.phase = 'inside';
      rest = begun.slice(OPEN.length);
    } else if (OPEN.startsWith(begun) && !isLast) {
      think.held = rest;
      return { content: '', reasoning };
    } else think.phase = 'outside';
  }
  if (think.phase === 'inside') {
    const end = rest.indexOf(CLOSE);
    if (end === -1) {
      const keep = isLast ? 0 : tailThatMayBe(CLOSE, rest);
      think.held = rest.slice(rest.length - keep);
      return { content: '', reasoning: rest.slice(0, rest.length - keep) };
    }
    reasoning = rest.slice(0, end);
    rest = rest.slice(end + CLOSE.length);
    think.phase = 'after';
  }
  if (think.phase === 'after') {
    rest = rest.trimStart();
    if (rest !== '') think.phase = 'outside';
  }
  return { content: rest, reasoning };
}

/** How many characters at the end of a text could be the beginning of the tag. */
function tailThatMayBe(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
