/** The least and the most that a 64-bit column holds: about 9.2 billion dollars either way. */
export const MIN_NANO = -(2n ** 63n);
export const MAX_NANO = 2n ** 63n - 1n;

export function fitsColumn(amount_nano: bigint): boolean {
  return amount_nano >= MIN_NANO && amount_nano <= MAX_NANO;
}
