export const DAY_MS = 86_400_000;

/** The day of UTC at a time: `YYYY-MM-DD`. */
export function dayName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * The beginning of a day in UTC; undefined if the text is not a day. `Date` would read the 30th of
 * February as a day of March.
 */
export function startOf(day: string): number | undefined {
  const ms = /^\d{4}-\d{2}-\d{2}$/u.test(day) ? Date.parse(day) : Number.NaN;
  return Number.isNaN(ms) || dayName(ms) !== day ? undefined : ms;
}
