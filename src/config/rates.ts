import type { RateLimits } from '../core/configuration.js';
import type { Rates } from '../core/limits.js';
import type { RateLimitsBlock, RatesBlock } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';

/** The rates of a block, without those that have faults; undefined if none is left. */
export function readRates(block: PartialLoad<RatesBlock> | undefined): Rates | undefined {
  const given = Object.entries(block ?? {}).filter(([, limit]) => limit !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Rates);
}

/** The block `rates` at the top of gateway.yaml. */
export function readRateLimits(block: PartialLoad<RateLimitsBlock> | undefined): RateLimits {
  const read = Object.entries(block ?? {}).map(
    ([name, rates]) => [name, readRates(rates)] as const,
  );
  return Object.fromEntries(read.filter(([, rates]) => rates !== undefined));
}
