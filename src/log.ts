import { destination, pino, type Logger } from 'pino';

const FLUSH_MS = 1_000;
const GATHERED_CHARACTERS = 16_000;
/** What nobody reads from standard error is dropped beyond this. */
const UNREAD_BYTES = 16 * 1024 ** 2;

/** JSON lines on standard error, written in the background. Holds neither keys nor prompts. */
export function createLog(level: string): Logger {
  const out = destination({ dest: 2, sync: false, maxLength: UNREAD_BYTES });
  return pino({ level, base: null, serializers: { err: plainError } }, new Lines(out));
}

/**
 * Gathers lines before they are written. The destination itself would do so too, but goes through
 * all that it has gathered again at each line.
 */
class Lines {
  #lines: string[] = [];
  #characters = 0;

  constructor(private readonly out: ReturnType<typeof destination>) {
    setInterval(() => this.flush(), FLUSH_MS).unref();
    process.once('exit', () => {
      // What is begun in the background now would not be ended any more.
      Object.assign(out, { sync: true });
      this.flush();
      out.flushSync();
    });
  }

  write(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= GATHERED_CHARACTERS) this.flush();
  }

  flush(): void {
    if (this.#characters === 0) return;
    this.out.write(this.#lines.join(''));
    this.#lines = [];
    this.#characters = 0;
  }
}

/** Errors carry their calls with them, headers and keys too, so only these parts are written. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}
