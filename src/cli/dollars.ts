import { parseDollars } from '../lib/money.js';
import { UsageError } from './command.js';

/** Parses an amount as nano-dollars. Throws `UsageError` if it is none. */
export function dollars(text: string): bigint {
  try {
    return parseDollars(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `"${text}" is no amount`);
  }
}
