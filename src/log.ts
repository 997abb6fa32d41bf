import { pino, type Logger } from 'pino';
import { LogLines } from './log-lines.js';

const STANDARD_ERROR = 2;

/** JSON lines on standard error, written in the background. Holds neither keys nor prompts. */
export function createLog(level: string): Logger {
  const lines = new LogLines(STANDARD_ERROR);
  return pino({ level, base: null, serializers: { err: plainError } }, lines);
}

/** Errors carry their calls with them, headers and keys too, so only these parts are written. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}
