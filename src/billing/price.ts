import type { TokenUsage } from '../chat/codec.js';
import type { Price } from '../types.js';

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

/** The most that these tokens can cost at any of the prices that may be asked. */
export function dearestCost(usage: TokenUsage, prices: Iterable<Price>): bigint {
  let dearest = 0n;
  for (const price of prices) {
    const cost = tokenCost(usage, price);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
}
