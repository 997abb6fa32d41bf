/** A total in shares of at most so many: 10 by 4 at a time are 4, 4 and 2. */
export function shares(total: number, most: number): number[] {
  const length = Math.ceil(total / most);
  return Array.from({ length }, (_, i) => Math.min(most, total - i * most));
}
