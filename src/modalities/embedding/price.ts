import { isPlausible, maxTokenCost, readUsage, tokenCost, type Bill } from '../../billing/bill.js';
import { countTokens } from '../../billing/tokens.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import type { TokenUsage } from '../../core/usage.js';
import type { EmbeddingCall } from './codec.js';

/** What an upstream may add around an input, and more than that. */
const TEMPLATE_TOKENS = 16;

/** Who bills for embeddings: the call, at whose price, under which hold (null where it is free). */
export interface EmbeddingTerms {
  call: EmbeddingCall;
  model: Model;
  price: Price;
  hold_nano: bigint | null;
}

/** What must be held before the call leaves: at the dearest upstream that may answer it. */
export function embeddingMaxCost(call: EmbeddingCall, upstreams: readonly Upstream[]): bigint {
  const usage = maxTokens(call);
  const costs = upstreams.map(({ price }) => maxTokenCost(usage, price));
  return costs.reduce((dearest, cost) => (cost > dearest ? cost : dearest), 0n);
}

/**
 * By the upstream's usage where it makes sense, whatever that costs; else by a count of our own,
 * which never passes the hold.
 */
export async function embeddingBill(usage_reported: unknown, terms: EmbeddingTerms): Promise<Bill> {
  const { call, price, hold_nano } = terms;
  const believed = believable(usage_reported, terms);
  if (believed) {
    return { usage: believed, cost_nano: tokenCost(believed, price), estimated: false };
  }
  const usage = await estimate(call);
  const cost = tokenCost(usage, price);
  const cost_nano = hold_nano !== null && cost > hold_nano ? hold_nano : cost;
  return { usage, cost_nano, estimated: true };
}

/** No input is nothing, and no output is made. */
function believable(
  usage_reported: unknown,
  { call, model }: EmbeddingTerms,
): TokenUsage | undefined {
  const tokens = readUsage(usage_reported);
  if (!tokens || tokens.prompt_tokens === 0 || tokens.completion_tokens > 0) return undefined;
  return isPlausible(tokens, model.limits, call.inputs.length) ? tokens : undefined;
}

/** A token is at least one byte, so the bytes of a text bound its tokens whatever the language. */
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
