/** A total in shares of at max so many: 10 by 4 at a time are 4, 4 and 2. */
export function shares(total: number, max: number): number[] {
  const length = Math.ceil(total / max);
  return Array.from({ length }, (_, i) => Math.min(max, total - i * max));
}
