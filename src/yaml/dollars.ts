import { TOKEN_UNIT_FIELDS, type TokenPrices, type TokenUnit } from '../core/model.js';
import { parseDollars } from '../lib/money.js';
import { meantNumber } from './meant-values.js';
import { pointer as join, type Source, label } from './source.js';

const MAX_NANO = parseDollars('1e9');

/**
 * Reads an amount of the file as nano-dollars. A negative amount, one above the maximum, or one
 * with more than 9 decimals is a fault.
 */
export function readDollars(source: Source, pointer: string): bigint {
  const nano = nanoOf(source.text(pointer) ?? '');
  if (nano !== undefined && nano >= 0n && nano <= MAX_NANO) return nano;
  const text = source.text(pointer) ?? '';
  const meant = source.hides(pointer) ? undefined : meantDollars(text);
  const fits = meant !== undefined && meant !== text && nanoOf(meant) !== undefined;
  source.fault(pointer, {
    code: 'bad_amount',
    message: `${label(pointer)}: ${source.word(pointer)} is not an amount of dollars`,
    hint: fits ? `write ${meant}` : boundsHint(text, source.hides(pointer)),
  });
  return 0n;
}

/** Reads the prices of tokens that a block has, in nano-dollars. */
export function readTokenPrices(
  source: Source,
  pointer: string,
  given: Readonly<Partial<Record<TokenUnit, unknown>>>,
): Partial<TokenPrices> {
  const prices: Partial<TokenPrices> = {};
  for (const [unit, field] of TOKEN_UNIT_FIELDS) {
    if (given[unit] !== undefined) prices[field] = readDollars(source, pointer + join(unit));
  }
  return prices;
}

function boundsHint(text: string, isHidden: boolean): string {
  const isShare = text.endsWith('%') && !isHidden;
  if (isShare) return 'it is no share: write dollars, such as 5.00';
  return 'from 0 to 1000000000, with 9 decimals at most';
}

function meantDollars(text: string): string | undefined {
  const [, cents] = /^(\d{1,9}) ?(?:cents?|ct|¢)$/i.exec(text) ?? [];
  if (cents !== undefined) return (Number(cents) / 100).toFixed(2);
  // A share of a balance is no amount.
  return text.endsWith('%') ? undefined : meantNumber(text.replace(/^-/, ''), false);
}

function nanoOf(text: string): bigint | undefined {
  try {
    return parseDollars(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
