import { pino, type Logger } from 'pino';
import { GatewayError } from '../core/errors.js';
import { LogDestination } from './log-destination.js';
import { UpstreamError } from '../core/upstream-error.js';

const STANDARD_ERROR = 2;

/** A logger, and the destination to which it writes its lines. */
export interface Log {
  log: Logger;
  lines: LogDestination;
}

/** JSON lines on standard error, written in the background. They hold neither keys nor prompts. */
export function createLog(level: string): Log {
  const lines = new LogDestination(STANDARD_ERROR);
  return { log: pino({ level, base: null, serializers: { err: plainError } }, lines), lines };
}

/** Writes these parts of an error only, since others may hold a call's headers and keys. */
export function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, cause } = error;
  const words = quotes(error) ? withoutWords(error) : error;
  const { message, stack } = words;
  return { name, message, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}

/** Whether an upstream wrote the message, which may then repeat a prompt. */
function quotes(error: Error): boolean {
  const cause = error instanceof GatewayError ? error.cause : error;
  return cause instanceof UpstreamError && cause.isQuoted;
}

/** The stack begins with the message, so only its frames are kept. */
function withoutWords({ message, stack = '' }: Error): { message: string; stack: string } {
  const at = stack.indexOf(`${message}\n    at `);
  const frames = at === -1 ? '' : stack.slice(at + message.length + 1);
  return { message: 'The upstream refused the request.', stack: frames };
}
