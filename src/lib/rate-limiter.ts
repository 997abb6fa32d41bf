const MINUTE_MS = 60_000;
/** Remembered at once. Beyond it, those that were counted longest ago are forgotten. */
const MAX_ADDRESSES = 10_000;

/** Counts what addresses do too often. Each process counts for itself, and beyond reloads. */
export interface RateLimiters {
  failed_keys: RateLimiter;
  sign_ins: RateLimiter;
}

export function createRateLimiters(now: () => number): RateLimiters {
  return { failed_keys: new RateLimiter(now), sign_ins: new RateLimiter(now) };
}

/**
 * So many a minute for each address, all at once or one by one: as the minute goes by, what was
 * spent comes back evenly.
 */
export class RateLimiter {
  /** When an address will have all of its share again, those counted last at the end. */
  readonly #full_ms = new Map<string, number>();

  constructor(
    private readonly now: () => number,
    private readonly most_addresses = MAX_ADDRESSES,
  ) {}

  get size(): number {
    return this.#full_ms.size;
  }

  /** Counts one more; answers for how many ms that is too many. Refused ones are not counted. */
  consume(address: string, per_minute: number): number {
    const now_ms = this.now();
    const each_ms = MINUTE_MS / per_minute;
    const known_ms = this.#full_ms.get(address) ?? 0;
    // None is further ahead than a minute, unless the clock was set back: that must block nobody.
    const isAhead = known_ms > now_ms + MINUTE_MS + each_ms;
    const full_ms = Math.max(isAhead ? 0 : known_ms, now_ms) + each_ms;
    const wait_ms = full_ms - now_ms - MINUTE_MS;
    // The last share of a minute may be a hair too large for its floating point.
    if (wait_ms > each_ms / 1000) return wait_ms;
    this.#full_ms.delete(address);
    this.#full_ms.set(address, full_ms);
    if (this.#full_ms.size > this.most_addresses) this.#forgetOldest();
    return 0;
  }

  #forgetOldest(): void {
    for (const address of this.#full_ms.keys()) {
      this.#full_ms.delete(address);
      return;
    }
  }
}
