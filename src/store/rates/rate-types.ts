import type { Rates } from '../../core/limits.js';

/** The limits of one counter, such as `key key_1`. */
export interface RateLimit {
  counter: string;
  rates: Rates;
}

/** A request that is to be counted by all of some counters, or by none. */
export interface RateCommand {
  request_id: string;
  limits: readonly RateLimit[];
  /** The max tokens that it may use. */
  tokens: number;
}

/** What a counter has counted: in its minute, and the requests that are running. */
export interface RateCounts {
  /** When its minute began, in ms since 1970. */
  window_ms: number;
  requests: number;
  tokens: number;
  in_flight: number;
}

export type RateUnit = 'requests' | 'tokens' | 'concurrent';

/** The answer of `take`. The counts are those of the limits, in their order, after it. */
export type RateResult =
  | { admitted: true; counts: readonly RateCounts[] }
  | {
      admitted: false;
      /** The index of the limit that refuses, and its unit. */
      at: number;
      unit: RateUnit;
      counts: readonly (RateCounts | undefined)[];
    };

/** The end of a request that was counted. */
export interface RateEnding {
  request_id: string;
  limits: readonly RateLimit[];
  /** The tokens to add to each counter if its minute has not ended: the usage less the max. */
  tokens: number;
  /** The minutes in which the limits counted it. */
  windows_ms: readonly number[];
}

/**
 * Counts requests and tokens by the minute, and requests at once. Where several processes share the
 * store, all of them share the counters.
 */
export interface RateStore {
  /** Whether other processes may count in it. */
  readonly is_shared: boolean;
  /** Counts a request in all counters, or refuses it and changes nothing. */
  take(command: RateCommand): RateResult | Promise<RateResult>;
  /** Ends a request, and corrects its tokens. */
  end(ending: RateEnding): void | Promise<void>;
  /** What the counters have counted in the present minute, in their order. */
  counts(counters: readonly string[]): RateCounts[] | Promise<RateCounts[]>;
  /**
   * Ends requests of processes that have died and those whose end was not written, and deletes
   * counters that are no longer used.
   */
  sweep(): Promise<void>;
}

/** The part of it that the hot path of a database does. */
export interface HotRates {
  take(command: RateCommand): Promise<RateResult>;
  end(ending: RateEnding): Promise<void>;
}
