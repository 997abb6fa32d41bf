/** The least and the most that a 64-bit column holds: about 9.2 billion dollars either way. */
export const MIN_NANO = -(2n ** 63n);
export const MAX_NANO = 2n ** 63n - 1n;

export function fitsColumn(amount_nano: bigint): boolean {
  return amount_nano >= MIN_NANO && amount_nano <= MAX_NANO;
}

/**
 * A binding for knex, which fails over a bigint when it has a fault of the database to report.
 * Both databases read the digits back without loss.
 */
export function toBinding(amount_nano: bigint): string {
  return amount_nano.toString();
}
