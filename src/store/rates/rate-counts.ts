import type { Rates } from '../../core/limits.js';
import type { RateCommand, RateCounts, RateResult, RateUnit } from './rate-types.js';

export const MINUTE_MS = 60_000;

/** A window that begins later than this after the present one comes from a clock that was wrong. */
export const AHEAD_MS = 2 * MINUTE_MS;

/** The counters of addresses begin so, and are deleted once their minute is over. */
export const ADDRESS_COUNTERS = 'address ';

/** The counter of a key or an account, over all endpoints without counters of their own. */
export function ownedCounter(owner: 'key' | 'account', id: string): string {
  return `${owner} ${id}`;
}

/** The counts of a row, whose numbers each database gives in its own type. */
export function countsOfRow(row: Record<keyof RateCounts, bigint | string>): RateCounts {
  return {
    window_ms: Number(row.window_ms),
    requests: Number(row.requests),
    tokens: Number(row.tokens),
    in_flight: Number(row.in_flight),
  };
}

/** The beginning of the minute of a time. */
export function windowAt(now_ms: number): number {
  return now_ms - (now_ms % MINUTE_MS);
}

/**
 * The counts in the present minute. It never goes back, so that processes whose clocks differ a
 * little do not begin a minute twice.
 */
export function countsIn(known: RateCounts | undefined, window_ms: number): RateCounts {
  const isPresent =
    known && known.window_ms >= window_ms && known.window_ms <= window_ms + AHEAD_MS;
  if (isPresent) return known;
  return { window_ms, requests: 0, tokens: 0, in_flight: known?.in_flight ?? 0 };
}

/** The unit whose limit refuses one more request; undefined if none does. */
export function refusingUnit(
  { requests, tokens, in_flight }: RateCounts,
  { requests_per_minute, tokens_per_minute, concurrent_requests }: Rates,
  more_tokens: number,
): RateUnit | undefined {
  if (requests_per_minute !== undefined && requests >= requests_per_minute) return 'requests';
  if (concurrent_requests !== undefined && in_flight >= concurrent_requests) return 'concurrent';
  if (tokens_per_minute !== undefined && tokens + more_tokens > tokens_per_minute) return 'tokens';
  return undefined;
}

/** The refusal of the first limit that refuses a request; undefined if none does. */
export function rateRefusal(
  { limits, tokens }: RateCommand,
  counts: readonly RateCounts[],
): (RateResult & { admitted: false }) | undefined {
  for (let at = 0; at < limits.length; at += 1) {
    const unit = refusingUnit(counts[at]!, limits[at]!.rates, tokens);
    if (unit) return { admitted: false, at, unit, counts };
  }
  return undefined;
}

/** The counts with one more request. Only a counter with a limit for them counts those at once. */
export function withRequest(counts: RateCounts, rates: Rates, tokens: number): RateCounts {
  return {
    window_ms: counts.window_ms,
    requests: counts.requests + 1,
    tokens: counts.tokens + tokens,
    in_flight: counts.in_flight + (rates.concurrent_requests === undefined ? 0 : 1),
  };
}

/** Counts a request in all of its counters, or refuses it and changes nothing. */
export function takeRate(
  command: RateCommand,
  window_ms: number,
  counters: { get(name: string): RateCounts | undefined; set(name: string, to: RateCounts): void },
): RateResult {
  const { limits, tokens } = command;
  const before = limits.map(({ counter }) => countsIn(counters.get(counter), window_ms));
  const refusal = rateRefusal(command, before);
  if (refusal) return refusal;
  const counts = before.map((one, at) => {
    const { counter, rates } = limits[at]!;
    const after = withRequest(one, rates, tokens);
    counters.set(counter, after);
    return after;
  });
  return { admitted: true, counts };
}
