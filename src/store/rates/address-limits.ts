import { randomUUID } from 'node:crypto';
import {
  createRateLimiters,
  type AddressLimiter,
  type RateLimiters,
} from '../../lib/rate-limiter.js';
import { StoreUnreachable } from '../store-error.js';
import { ADDRESS_COUNTERS, MINUTE_MS } from './rate-counts.js';
import type { RateStore } from './rate-types.js';

/** The limits on what an address may do in a minute, over all processes that share the store. */
export function openAddressLimits(rates: RateStore, now: () => number): RateLimiters {
  const own = createRateLimiters(now);
  if (!rates.is_shared) return own;
  return {
    failed_keys: new SharedAddressLimiter('failed_keys', own.failed_keys, rates, now),
    sign_ins: new SharedAddressLimiter('sign_ins', own.sign_ins, rates, now),
  };
}

/**
 * Counts in the store what the limit of this process has let through. Only a guess of a key, or a
 * sign-in, writes to the store, and none does from an address that has used up its minute.
 */
class SharedAddressLimiter implements AddressLimiter {
  constructor(
    private readonly name: keyof RateLimiters,
    private readonly own: AddressLimiter,
    private readonly rates: RateStore,
    private readonly now: () => number,
  ) {}

  async consume(address: string, per_minute: number): Promise<number> {
    const wait_ms = await this.own.consume(address, per_minute);
    if (wait_ms > 0) return wait_ms;
    try {
      return await this.#consumeShared(address, per_minute);
    } catch (error) {
      // A store that can only be read: the limit of this process goes on.
      if (error instanceof StoreUnreachable) return 0;
      throw error;
    }
  }

  async #consumeShared(address: string, per_minute: number): Promise<number> {
    const counter = `${ADDRESS_COUNTERS}${this.name} ${address}`;
    const limits = [{ counter, rates: { requests_per_minute: per_minute } }];
    const request_id = randomUUID();
    const result = await this.rates.take({ request_id, limits, tokens: 0 });
    if (!result.admitted) {
      const ends_ms = (result.counts[result.at]?.window_ms ?? this.now()) + MINUTE_MS;
      return Math.max(1, ends_ms - this.now());
    }
    await this.rates.end({ request_id, limits, tokens: 0, windows_ms: [] });
    return 0;
  }
}
