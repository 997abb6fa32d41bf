import type { ChatCall } from './codec.js';
import { audioTokens, imageTokens, maxTokens, promptReads } from './max-cost.js';
import { countTokens } from '../../billing/tokens.js';
import type { TokenUsage } from '../../core/usage.js';
import type { Model, Upstream } from '../../core/model.js';
import type { ChatWork } from './call.js';
import { isPlausible, readUsage, tokenCost, type Bill } from '../../billing/bill.js';

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
  const usage: TokenUsage = {
    prompt_tokens: Math.min(most.prompt_tokens, await promptTokens(terms)),
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

async function promptTokens({ work, model, upstream }: Terms): Promise<number> {
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
  return promptReads(work.call, upstream.provider) * (text + around + media);
}

function textOf(part: { type: string; text?: string }): string[] {
  return part.text === undefined ? [] : [part.text];
}
