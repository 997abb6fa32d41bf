import fc from 'fast-check';
import {
  TOKEN_UNIT_FIELDS,
  WEEKDAYS,
  type Price,
  type TierPrices,
  type TokenPrices,
} from '../../../src/core/model.js';
import { readUsage } from '../../../src/billing/bill.js';
import { NO_TOKENS, type TokenUsage } from '../../../src/core/usage.js';

const nano = fc.bigInt({ min: 0n, max: 10n ** 12n });
const token_prices = Object.fromEntries(
  TOKEN_UNIT_FIELDS.map(([, field]) => [field, nano]),
) as Record<keyof TokenPrices, typeof nano>;
const optional = { requiredKeys: [] as [] };
const long_prompt = fc.record(
  { above_tokens: fc.integer({ min: 1, max: 500 }), ...token_prices },
  { requiredKeys: ['above_tokens'] },
);
const tier: fc.Arbitrary<TierPrices> = fc.record({ ...token_prices, long_prompt }, optional);
/** A time of a day in minutes after midnight. */
export const minute = fc.nat({ max: 1_439 });
const hours = fc.record(
  {
    days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
    from_minute: minute,
    to_minute: minute,
    zone: fc.constantFrom('UTC', 'Asia/Shanghai', 'America/St_Johns'),
    ...token_prices,
  },
  { requiredKeys: ['from_minute', 'to_minute', 'zone'] },
);

/** The tools that a rate card may have prices for, and one that it never has. */
export const TOOLS = ['web_search', 'code_interpreter', 'unpriced'] as const;

function tableOf<Value>(
  names: readonly string[],
  value: fc.Arbitrary<Value>,
): fc.Arbitrary<ReadonlyMap<string, Value>> {
  const entries = fc.tuple(fc.constantFrom(...names), value);
  return fc.array(entries, { maxLength: 3 }).map((all) => new Map(all));
}

/** Prices with any of the things that can change the price of a call. */
export const rateCards: fc.Arbitrary<Price> = fc.record(
  {
    free: fc.constant(false),
    ...token_prices,
    long_prompt,
    tiers: tableOf(['flex', 'priority'], tier),
    off_peak: fc.array(hours, { minLength: 1, maxLength: 3 }),
    per_tool_call: tableOf(TOOLS.slice(0, 2), nano),
    per_request: nano,
  },
  { requiredKeys: ['free', 'input_nano_per_million', 'output_nano_per_million'] },
);

/** A usage as an upstream may report it, of at most so many tokens each way. */
export function reportsOf(max: number) {
  const count = fc.nat({ max });
  return fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: fc.record(
        {
          cached_tokens: count,
          cache_write_tokens: count,
          cache_write_1h_tokens: count,
          audio_tokens: count,
          image_tokens: count,
        },
        optional,
      ),
      completion_tokens_details: fc.record(
        { reasoning_tokens: count, audio_tokens: count, image_tokens: count },
        optional,
      ),
      service_tier: fc.constantFrom('flex', 'priority', 'default', 'scale'),
      tool_calls: fc.record(
        Object.fromEntries(TOOLS.map((name) => [name, fc.nat({ max: 3 })])),
        optional,
      ),
    },
    { requiredKeys: ['prompt_tokens', 'completion_tokens'] },
  );
}

/** The same as it is read. */
export function usagesOf(max: number): fc.Arbitrary<TokenUsage> {
  return reportsOf(max).map((report) => readUsage(report) ?? NO_TOKENS);
}
