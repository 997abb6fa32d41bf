export const DAY_MS = 86_400_000;

/** The day of UTC at a time: `YYYY-MM-DD`. */
export function dayName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * Where a day of UTC begins; undefined for what is no day. The 30th of February is none, though a
 * `Date` would take it for one in March.
 */
export function startOf(day: string): number | undefined {
  const ms = /^\d{4}-\d{2}-\d{2}$/u.test(day) ? Date.parse(day) : Number.NaN;
  return Number.isNaN(ms) || dayName(ms) !== day ? undefined : ms;
}
