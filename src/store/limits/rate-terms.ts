import type { Rates } from '../../core/limits.js';
import { StoreError } from '../store-error.js';

/** A change of rates: null takes one away, and one that is absent stays. */
export type RatesChange = { [Name in keyof Rates]?: number | null };

/** The rates after a change; null if none is left. Throws `StoreError` for one that is no rate. */
export function changedRates(before: Rates | null, change: RatesChange = {}): Rates | null {
  const merged = Object.entries({ ...before, ...change });
  const rates: Rates = Object.fromEntries(merged.filter(([, rate]) => rate !== null));
  const isRate = (rate: number): boolean => Number.isSafeInteger(rate) && rate > 0;
  if (!Object.values(rates).every(isRate)) {
    throw new StoreError('A rate must be a whole number above zero.');
  }
  return Object.keys(rates).length === 0 ? null : rates;
}

/** The rates in their column, which is JSON. */
export function ratesIn(column: string | null): Rates | null {
  return column === null ? null : (JSON.parse(column) as Rates);
}

export function toRatesColumn(rates: Rates | null): string | null {
  return rates && JSON.stringify(rates);
}
