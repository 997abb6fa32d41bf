import { write, writeSync } from 'node:fs';
import { pino } from 'pino';

const FLUSH_MS = 1_000;
const AGAIN_MS = 25;
const GATHERED_CHARACTERS = 16_000;
/** What nobody takes is dropped beyond this, and counted. */
const MOST_CHARACTERS = 16 * 1024 ** 2;
/** How long the end of the process waits for what is being written, or cannot be at once. */
const LAST_MS = 20;
/** Whoever has taken nothing for so long is not waited for then. */
const STALLED_MS = 1_000;
const WARN = pino.levels.values['warn'];
const NOTHING = Buffer.alloc(0);

/**
 * Log lines on their way to a file descriptor: gathered, and written in the background. A full disk
 * or a reader that has gone stops neither the requests nor the end of the process, both of which
 * pino's own destination does.
 */
export class LogDestination {
  readonly #fd: number;
  #lines: string[] = [];
  #characters = 0;
  #dropped = 0;
  /** What is being written, or could not be so far. */
  #bytes: Buffer = NOTHING;
  #writing_since: number | undefined;
  /** Nobody will ever read it. */
  #isGone = false;

  constructor(fd: number) {
    this.#fd = fd;
    setInterval(() => this.flush(), FLUSH_MS).unref();
    process.once('exit', () => this.#end());
  }

  write(line: string): void {
    if (this.#isGone) return;
    if (this.#characters + line.length > MOST_CHARACTERS) {
      this.#dropped++;
      return;
    }
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= GATHERED_CHARACTERS) this.flush();
  }

  flush(): void {
    if (this.#writing_since !== undefined) return;
    if (this.#bytes.length === 0) this.#bytes = this.#gathered();
    if (this.#bytes.length === 0) return;
    this.#writing_since = performance.now();
    write(this.#fd, this.#bytes, (error, written) => this.#written(error, written));
  }

  #written(error: NodeJS.ErrnoException | null, written: number): void {
    this.#writing_since = undefined;
    if (error?.code === 'EPIPE') {
      this.#isGone = true;
      this.#gathered();
      this.#bytes = NOTHING;
    } else if (error) {
      setTimeout(() => this.flush(), AGAIN_MS).unref();
    } else {
      this.#bytes = this.#bytes.subarray(written);
      if (this.#bytes.length > 0 || this.#characters >= GATHERED_CHARACTERS) this.flush();
    }
  }

  /** The lines that wait, and behind them how many there was no room for. */
  #gathered(): Buffer {
    const text = this.#lines.join('') + (this.#dropped > 0 ? missing(this.#dropped) : '');
    this.#lines = [];
    this.#characters = 0;
    this.#dropped = 0;
    return Buffer.from(text);
  }

  #end(): void {
    let left = this.#gathered();
    if (this.#writing_since === undefined) left = Buffer.concat([this.#bytes, left]);
    else if (performance.now() - this.#writing_since > STALLED_MS) return;
    else pause(LAST_MS);
    let taken_at = performance.now();
    while (left.length > 0 && performance.now() - taken_at < STALLED_MS) {
      const written = writtenOf(this.#fd, left);
      if (written === undefined) return;
      if (written > 0) taken_at = performance.now();
      else pause(LAST_MS);
      left = left.subarray(written);
    }
  }
}

/** How much was taken at once; undefined where nothing ever will be. */
function writtenOf(fd: number, bytes: Buffer): number | undefined {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EAGAIN' ? 0 : undefined;
  }
}

/** The last thing that a process does may wait; nothing else runs any more. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function missing(lines: number): string {
  const msg = 'log lines are missing here, as nobody took them';
  return `${JSON.stringify({ level: WARN, time: Date.now(), lines, msg })}\n`;
}
