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
  return pino({ level, base: null, redact: ['*.headers.authorization'] }, out);
}
