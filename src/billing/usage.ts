import type { TokenUsage } from '../chat/codec.js';
import type { ChatWork } from '../chat/call.js';
import type { Model, Price } from '../types.js';
import { mostTokens } from './bound.js';
import { tokenCost } from './price.js';
import { countTokens } from './tokens.js';

/** What an answer is charged for. `estimated` where the upstream's own figures were not usable. */
export interface Bill {
  usage: TokenUsage;
  cost_nano: bigint;
  estimated: boolean;
}

/** Who bills: the work done, at whose price, under which hold (null where the model is free). */
export interface Terms {
  work: ChatWork;
  model: Model;
  price: Price;
  hold_nano: bigint | null;
}

/**
 * The upstream's usage if it makes sense: whole numbers, not negative, not beyond the hold, not
 * nothing for an answer with text. An absurd figure is never believed, in either direction.
 */
export function believedBill(
  usage: unknown,
  texts: readonly string[],
  { price, hold_nano }: Terms,
): Bill | undefined {
  const tokens = readUsage(usage);
  if (!tokens) return undefined;
  if (tokens.completion_tokens === 0 && texts.some((text) => text !== '')) return undefined;
  const cost = tokenCost(tokens, price);
  if (hold_nano !== null && cost > hold_nano) return undefined;
  return { usage: tokens, cost_nano: cost, estimated: false };
}

/** A bill by our own count of the prompt and of the text that came, never above the hold. */
export async function estimatedBill(texts: readonly string[], terms: Terms): Promise<Bill> {
  const { work, model, price, hold_nano } = terms;
  const most = mostTokens(work, model);
  const usage = {
    prompt_tokens: Math.min(most.prompt_tokens, await promptTokens(work, model)),
    completion_tokens: await completionTokens(texts, work),
  };
  const cost = tokenCost(usage, price);
  const capped = hold_nano !== null && cost > hold_nano ? hold_nano : cost;
  return { usage, cost_nano: capped, estimated: true };
}

/** Token counts, if they are counts at all. */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { prompt_tokens, completion_tokens } = usage as Record<string, unknown>;
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return undefined;
  return { prompt_tokens, completion_tokens };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
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
/** A picture of ordinary size at the large providers. */
const TOKENS_PER_IMAGE = 1_000;
const AUDIO_CHARACTERS_PER_TOKEN = 1_000;

async function promptTokens({ call, size }: ChatWork, model: Model): Promise<number> {
  const texts = call.messages.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : (content ?? []).flatMap(textOf),
  );
  // Tools are part of the prompt too, as the bound knows.
  const tools = [call.fields['tools'], ...call.messages.map(({ tool_calls }) => tool_calls)]
    .filter((value) => value !== undefined)
    .map((value) => JSON.stringify(value));
  const text = await countTokens([...texts, ...tools].join('\n'));
  const images = size.images * Math.min(TOKENS_PER_IMAGE, model.limits.image_tokens);
  const audio = Math.ceil(size.audio_bytes / AUDIO_CHARACTERS_PER_TOKEN);
  return text + TOKENS_PER_MESSAGE * size.messages + images + audio;
}

function textOf(part: { type: string; text?: string }): string[] {
  return part.text === undefined ? [] : [part.text];
}
