import type { ChatCall } from './codec.js';
import { mediaTokens, maxTokens, promptReads } from './max-cost.js';
import { tokenCost } from '../../billing/cost.js';
import { countTokens } from '../../billing/tokens.js';
import type { TokenUsage } from '../../core/usage.js';
import type { Model, ModelLimits, Upstream } from '../../core/model.js';
import type { ChatWork } from './call.js';
import { type Bill, readUsage } from '../../billing/bill.js';

/** Who bills: the work done, by which upstream, under which hold (null where it is free). */
export interface Terms {
  work: ChatWork;
  model: Model;
  upstream: Upstream;
  hold_nano: bigint | null;
}

/** Tokens of one figure at the most, where the model's context is not known. */
const MAX_TOKENS = 10_000_000;
/**
 * How many times the context may be used: providers count differently, and tools of their own may
 * read a prompt several times over.
 */
const CONTEXTS = 4;

/** Whether no more tokens were used than can have been, whatever they cost. */
export function isPlausible(usage: TokenUsage, { context }: ModelLimits, answers: number): boolean {
  const most = context === undefined ? MAX_TOKENS : CONTEXTS * context * answers;
  return usage.prompt_tokens <= most && usage.completion_tokens <= most;
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
  const owed = { prompt_tokens: tokens.prompt_tokens, completion_tokens: most };
  const owed_nano = tokenCost(owed, upstream.price);
  const not_owed_nano = cost_nano - owed_nano;
  return { usage: tokens, cost_nano: owed_nano, not_owed_nano, estimated: false };
}

function outputLimit({ max_tokens, n }: ChatCall): number {
  return max_tokens === undefined ? Infinity : max_tokens * n;
}

/** A bill by our own count of the prompt and of the text that came, never above the hold. */
export async function estimatedBill(texts: readonly string[], terms: Terms): Promise<Bill> {
  const { work, model, upstream, hold_nano } = terms;
  const most = maxTokens(work, model, upstream.provider);
  const usage = {
    prompt_tokens: Math.min(most.prompt_tokens, await promptTokens(terms)),
    completion_tokens: await completionTokens(texts, work),
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
  const once = text + around + mediaTokens(work, model, upstream.provider);
  return promptReads(work.call, upstream.provider) * once;
}

function textOf(part: { type: string; text?: string }): string[] {
  return part.text === undefined ? [] : [part.text];
}
