/** Divides a total into shares of at most `max`: 10 by 4 is 4, 4 and 2. */
export function shares(total: number, max: number): number[] {
  const length = Math.ceil(total / max);
  return Array.from({ length }, (_, i) => Math.min(max, total - i * max));
}
