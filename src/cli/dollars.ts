import { parseDollars } from '../lib/money.js';
import { UsageError } from './command.js';

/** An amount that was typed, in nano-dollars. Throws `UsageError` where it is none. */
export function dollars(text: string): bigint {
  try {
    return parseDollars(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `"${text}" is no amount`);
  }
}
