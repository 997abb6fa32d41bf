import type { TokenUsage } from '../core/usage.js';
import type { Price } from '../core/model.js';

const MILLION = 1_000_000n;

/**
 * What a number of tokens costs, in nano-dollars. The one place that rounds: up, to the next
 * nano-dollar.
 */
export function tokenCost(usage: TokenUsage, price: Price): bigint {
  const input = BigInt(usage.prompt_tokens) * price.input_nano_per_million;
  const output = BigInt(usage.completion_tokens) * price.output_nano_per_million;
  return (input + output + MILLION - 1n) / MILLION;
}
