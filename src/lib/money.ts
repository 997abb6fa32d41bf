const NANO_DIGITS = 9;
const MIN_DECIMALS = 2;
const ZEROS = '0'.repeat(NANO_DIGITS + 1);
export const NANO_PER_DOLLAR = 1_000_000_000n;
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,2}))?$/i;

/**
 * Parses an amount in dollars such as `10`, `10.00`, `0.15` or `1e-3` as nano-dollars (1e-9 USD).
 * It works on the digits, so no precision is lost to a float. Throws `RangeError` with a sentence
 * for a text that is not a decimal number, or is finer than a nano-dollar.
 */
export function parseDollars(text: string): bigint {
  const match = text.length <= 64 ? DECIMAL.exec(text) : null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match ?? [];
  if (!match || whole + fraction === '') {
    throw new RangeError(`${JSON.stringify(text.slice(0, 64))} is not an amount such as 10.00`);
  }
  const shift = NANO_DIGITS - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const unit = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % unit !== 0n) {
    throw new RangeError(`${JSON.stringify(text)} has more than 9 decimals`);
  }
  const nano = shift < 0 ? digits / unit : digits * unit;
  return sign === '-' ? -nano : nano;
}

const LONG_DECIMAL = /^([+-]?)(\d{0,30})(?:\.(\d{0,60}))?(?:e([+-]?\d{1,2}))?$/iu;

/**
 * An amount in dollars that another program wrote, with any number of decimals, as the nearest
 * nano-dollar. Undefined for a text that is not a decimal number.
 */
export function roundedDollars(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = LONG_DECIMAL.exec(text) ?? [];
  if (whole + fraction === '') return undefined;
  const shift = NANO_DIGITS - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const unit = 10n ** BigInt(Math.abs(shift));
  const nano = shift < 0 ? (digits + unit / 2n) / unit : digits * unit;
  return sign === '-' ? -nano : nano;
}

/** A quotient rounded up, for amounts of no sign. Costs are rounded by this function alone. */
export function divideUp(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor;
}

/** The smaller of two amounts. */
export function minNano(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The greatest of the amounts; zero if there is none above it. */
export function maxNano(amounts: readonly bigint[]): bigint {
  return amounts.reduce((max, nano) => (nano > max ? nano : max), 0n);
}

/** Formats nano-dollars as dollars, exactly, with two decimals or more: `10.00`, `-0.000123`. */
export function formatDollars(nano: bigint): string {
  const [sign, amount] = nano < 0n ? ['-', -nano] : ['', nano];
  const digits = amount.toString();
  const all = digits.length > NANO_DIGITS ? digits : ZEROS.slice(digits.length) + digits;
  const point = all.length - NANO_DIGITS;
  let end = all.length;
  while (end > point + MIN_DECIMALS && all[end - 1] === '0') end -= 1;
  return `${sign}${all.slice(0, point)}.${all.slice(point, end)}`;
}

/** Dollars with their unit: `$1.00`, `-$1.00`. */
export function withDollarSign(dollars: string): string {
  return dollars.startsWith('-') ? `-$${dollars.slice(1)}` : `$${dollars}`;
}
