import { parseDollars } from '../lib/money.js';
import { UsageError } from './command.js';

/** As the management API takes amounts: without an exponent, which is a slip in most cases. */
const EXPONENT = /e/iu;

/** Parses an amount as nano-dollars. Throws `UsageError` if it is none. */
export function dollars(text: string): bigint {
  if (EXPONENT.test(text)) {
    throw new UsageError(`${JSON.stringify(text.slice(0, 64))} is not an amount such as 10.00`);
  }
  try {
    return parseDollars(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `"${text}" is no amount`);
  }
}
