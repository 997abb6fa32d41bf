import { countsIn, takeRate, windowAt } from './rate-counts.js';
import type { RateCommand, RateCounts, RateEnding, RateResult, RateStore } from './rate-types.js';

/** The counters of a process that serves its store alone. They begin anew with it. */
export class MemoryRates implements RateStore {
  readonly is_shared = false;
  readonly #counters = new Map<string, RateCounts>();

  constructor(private readonly now: () => number) {}

  get size(): number {
    return this.#counters.size;
  }

  take(command: RateCommand): RateResult {
    return takeRate(command, windowAt(this.now()), this.#counters);
  }

  end({ limits, tokens, windows_ms }: RateEnding): void {
    for (const [at, { counter, rates }] of limits.entries()) {
      const counts = this.#counters.get(counter);
      if (!counts) continue;
      if (rates.concurrent_requests !== undefined) counts.in_flight -= 1;
      if (counts.window_ms === windows_ms[at]) counts.tokens += tokens;
    }
  }

  counts(counters: readonly string[]): RateCounts[] {
    const window_ms = windowAt(this.now());
    return counters.map((name) => countsIn(this.#counters.get(name), window_ms));
  }

  /** Deletes the counters of earlier minutes. */
  sweep(): Promise<void> {
    const window_ms = windowAt(this.now());
    for (const [name, { in_flight, window_ms: own_ms }] of this.#counters) {
      if (in_flight === 0 && own_ms < window_ms) this.#counters.delete(name);
    }
    return Promise.resolve();
  }
}
