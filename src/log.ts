import { destination, pino, type Logger } from 'pino';

const FLUSH_MS = 1_000;
const GATHERED_CHARACTERS = 16_000;
/** What nobody reads from standard error is dropped beyond this, and counted. */
const UNREAD_BYTES = 16 * 1024 ** 2;
const WARN = pino.levels.values['warn'];

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
  #dropped = 0;

  constructor(private readonly out: ReturnType<typeof destination>) {
    setInterval(() => this.flush(), FLUSH_MS).unref();
    process.once('exit', () => {
      // What is begun in the background now would not be ended any more.
      Object.assign(out, { sync: true });
      // What is unread so far leaves room for the rest.
      out.flushSync();
      this.flush();
      out.flushSync();
    });
  }

  write(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= GATHERED_CHARACTERS) this.flush();
  }

  /** Whoever reads again is told first how much is missing. */
  flush(): void {
    const [lines, dropped] = [this.#lines, this.#dropped];
    if (lines.length === 0 && dropped === 0) return;
    this.#lines = [];
    this.#characters = 0;
    this.#dropped = 0;
    const drop = (): void => void (this.#dropped = dropped + lines.length);
    this.out.once('drop', drop);
    this.out.write((dropped > 0 ? missing(dropped) : '') + lines.join(''));
    this.out.off('drop', drop);
  }
}

function missing(lines: number): string {
  const msg = 'log lines are missing here, as nobody read what came before them';
  return `${JSON.stringify({ level: WARN, time: Date.now(), lines, msg })}\n`;
}

/** Errors carry their calls with them, headers and keys too, so only these parts are written. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}
