import { destination, pino, type Logger } from 'pino';

const FLUSH_MS = 1_000;
const BUFFER_BYTES = 16_000;

/** JSON lines on standard error, written in the background. Holds neither keys nor prompts. */
export function createLog(level: string): Logger {
  const out = destination({
    dest: 2,
    sync: false,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_MS,
  });
  return pino({ level, base: null, serializers: { err: plainError } }, out);
}

/** Errors carry their calls with them, headers and keys too, so only these parts are written. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}
