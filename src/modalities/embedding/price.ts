import {
  isPlausible,
  maxTokenCost,
  readUsage,
  tokenCost,
  callCostsAt,
  type Bill,
  cappedByHold,
} from '../../billing/bill.js';
import { dearestCost } from '../../billing/rate-card.js';
import { countTokens } from '../../billing/tokens.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import type { TokenUsage } from '../../core/usage.js';
import type { EmbeddingCall } from './codec.js';

/** More tokens than an upstream adds around an input. */
const TEMPLATE_TOKENS = 16;

/** The terms of a bill: the call, the price, and the hold (null if the call is free). */
export interface EmbeddingTerms {
  call: EmbeddingCall;
  model: Model;
  price: Price;
  hold_nano: bigint | null;
}

/** The amount to hold before the call is sent: its max cost at any of the upstreams. */
export function embeddingMaxCost(call: EmbeddingCall, upstreams: readonly Upstream[]): bigint {
  const usage = maxTokens(call);
  return dearestCost(upstreams, (card) => maxTokenCost(usage, card));
}

/** The max tokens of a call at any upstream. */
export function embeddingMaxTokens(call: EmbeddingCall): number {
  return maxTokens(call).prompt_tokens;
}

/**
 * Bills the reported usage if it is plausible, even beyond the hold. Otherwise bills the gateway's
 * own count, capped by the hold.
 */
export async function embeddingBill(usage_reported: unknown, terms: EmbeddingTerms): Promise<Bill> {
  const { call, price, hold_nano } = terms;
  const believed = believable(usage_reported, terms);
  const usage = believed ?? (await estimate(call));
  const costs = callCostsAt(price, (card) => tokenCost(usage, card));
  if (believed) return { usage, ...costs, estimated: false };
  const cost_nano = cappedByHold(costs.cost_nano, hold_nano);
  return { usage, ...costs, cost_nano, estimated: true };
}

/** The reported usage, if it has input tokens and no output tokens. */
function believable(
  usage_reported: unknown,
  { call, model }: EmbeddingTerms,
): TokenUsage | undefined {
  const tokens = readUsage(usage_reported);
  if (!tokens || tokens.prompt_tokens === 0 || tokens.completion_tokens > 0) return undefined;
  return isPlausible(tokens, model.limits, call.inputs.length) ? tokens : undefined;
}

/** A token has at least one byte, so a text has at most as many tokens as bytes. */
function maxTokens({ inputs, fields }: EmbeddingCall): TokenUsage {
  let prompt_tokens = Buffer.byteLength(JSON.stringify(fields));
  for (const input of inputs) {
    prompt_tokens += TEMPLATE_TOKENS;
    prompt_tokens += typeof input === 'string' ? Buffer.byteLength(input) : input.length;
  }
  return { prompt_tokens, completion_tokens: 0 };
}

async function estimate({ inputs }: EmbeddingCall): Promise<TokenUsage> {
  const texts = inputs.filter((input) => typeof input === 'string');
  const lists = inputs.filter((input) => typeof input !== 'string');
  const tokens = lists.reduce((sum, { length }) => sum + length, 0);
  return { prompt_tokens: tokens + (await countTokens(texts.join('\n'))), completion_tokens: 0 };
}
