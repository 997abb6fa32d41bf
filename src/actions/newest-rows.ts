import type { Page } from './action.js';

/** The newest rows of a page, in the order in which they came: the oldest first. */
export function newestRows<T extends { created_ms: number }>(
  rows: readonly T[],
  { limit, since_ms = -Infinity }: Page,
): T[] {
  return rows.filter(({ created_ms }) => created_ms >= since_ms).slice(-limit);
}
