const MINUTE_MS = 60_000;
/**
 * The maximum of addresses in memory. The address that was counted longest ago is dropped first.
 */
const MAX_ADDRESSES = 10_000;

/** Counts calls by address. */
export interface AddressLimiter {
  /**
   * Counts a call. Returns 0, or the ms to wait if the call is refused. Refused calls do not count.
   */
  consume(address: string, per_minute: number): number | Promise<number>;
}

/** Rate limiters by address. A reload keeps them. */
export interface RateLimiters {
  failed_keys: AddressLimiter;
  sign_ins: AddressLimiter;
}

/** Those of one process. */
export function createRateLimiters(now: () => number): RateLimiters {
  return { failed_keys: new RateLimiter(now), sign_ins: new RateLimiter(now) };
}

/**
 * Allows each address a number of calls per minute, as a leaky bucket: an address may make all its
 * calls at once, and gets them back evenly over the minute.
 */
export class RateLimiter implements AddressLimiter {
  /** When each address has all its calls again. The addresses counted last are at the end. */
  readonly #full_ms = new Map<string, number>();

  constructor(
    private readonly now: () => number,
    private readonly max_addresses = MAX_ADDRESSES,
  ) {}

  get size(): number {
    return this.#full_ms.size;
  }

  consume(address: string, per_minute: number): number {
    const now_ms = this.now();
    const each_ms = MINUTE_MS / per_minute;
    const known_ms = this.#full_ms.get(address) ?? 0;
    // A time more than a minute ahead means that the clock was set back. It must block no address.
    const isAhead = known_ms > now_ms + MINUTE_MS + each_ms;
    const full_ms = Math.max(isAhead ? 0 : known_ms, now_ms) + each_ms;
    const wait_ms = full_ms - now_ms - MINUTE_MS;
    // Rounding may make the last call of a minute a little too late.
    if (wait_ms > each_ms / 1000) return wait_ms;
    this.#full_ms.delete(address);
    this.#full_ms.set(address, full_ms);
    if (this.#full_ms.size > this.max_addresses) this.#forgetOldest();
    return 0;
  }

  #forgetOldest(): void {
    for (const address of this.#full_ms.keys()) {
      this.#full_ms.delete(address);
      return;
    }
  }
}
