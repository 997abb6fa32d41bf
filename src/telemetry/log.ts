import { pino, type Logger } from 'pino';
import { write, writeSync } from 'node:fs';
import { inColour, plain } from '../lib/colour.js';
import { type LogLines, textOfLine } from './access-log.js';
import { plainError } from './plain-error.js';
import { entryText } from './text-log.js';

const STANDARD_ERROR = 2;

/** A logger, and the destination to which it writes its lines. */
export interface Log {
  log: Logger;
  lines: LogLines;
}

/** JSON for machines, or text for a person at a terminal, which may be coloured. */
export type LogStyle = 'json' | 'text' | 'coloured';

/** Lines on standard error, written in the background. They hold neither keys nor prompts. */
export function createLog(
  level: string,
  style: LogStyle = 'json',
  lines: Pick<LogDestination, 'write' | 'flush'> = new LogDestination(STANDARD_ERROR),
): Log {
  const options = { level, base: null, serializers: { err: plainError } };
  if (style === 'json') return { log: pino(options, lines), lines };
  const paint = style === 'coloured' ? inColour : plain;
  const write = (json: string): void => lines.write(entryText(json, paint));
  const log = pino(options, { write, flush: () => lines.flush() } as pino.DestinationStream);
  return {
    log,
    lines: { write: (text) => lines.write(text), format: (line) => textOfLine(line, paint) },
  };
}

const FLUSH_MS = 1_000;
/** The delay before a failed write is repeated. */
const RETRY_MS = 25;
/** A batch of this size is written before its time. */
const BATCH_BYTES = 64 * 1024;
/** Lines beyond this many waiting bytes are dropped and counted. */
const MAX_BYTES = 16 * 1024 ** 2;
/** The delay between two attempts to write at the end of the process. */
const LAST_RETRY_MS = 20;
/** The end of the process does not wait for a reader that has taken nothing for this long. */
const STALLED_MS = 1_000;
/** How long the end of the process waits for a write in flight, whose result it cannot see. */
const LAST_WRITE_MS = 250;
const WARN = pino.levels.values.warn;
const NOTHING = Buffer.alloc(0);

/**
 * Gathers log lines in batches and writes them to a file descriptor in the background. The
 * `flushSync` of pino's own destination (sonic-boom 4.2.1) repeats a failed write for ever, so a
 * process with a full disk or a closed reader would never end.
 */
export class LogDestination {
  readonly #fd: number;
  #waiting: Buffer[] = [];
  #waiting_bytes = 0;
  #dropped = 0;
  /** The bytes of the write in flight, or of a failed write that is repeated later. */
  #batch: Buffer = NOTHING;
  /** When the write in flight began; undefined while there is none. */
  #writing_since: number | undefined;
  #isScheduled = false;
  /** Whether the reader has closed its end. */
  #isClosed = false;

  constructor(fd: number) {
    this.#fd = fd;
    setInterval(() => this.flush(), FLUSH_MS).unref();
    process.once('exit', () => this.#end());
  }

  write(line: string): void {
    if (this.#isClosed) return;
    const bytes = Buffer.from(line);
    if (this.#waiting_bytes + bytes.length > MAX_BYTES) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(bytes);
    this.#waiting_bytes += bytes.length;
    if (this.#waiting_bytes >= BATCH_BYTES) this.#schedule();
  }

  /** Starts to write the waiting lines, unless a write is in flight. */
  flush(): void {
    if (this.#writing_since !== undefined) return;
    if (this.#batch.length === 0) this.#batch = this.#takeWaiting();
    if (this.#batch.length === 0) return;
    this.#writing_since = performance.now();
    write(this.#fd, this.#batch, (error, written) => this.#written(error, written));
  }

  /**
   * Flushes after this turn of the event loop. A process that exits in this turn then has no write
   * in flight, and writes its lines in their order.
   */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  #written(error: NodeJS.ErrnoException | null, written: number): void {
    this.#writing_since = undefined;
    if (error?.code === 'EPIPE') {
      this.#isClosed = true;
      this.#takeWaiting();
      this.#batch = NOTHING;
    } else if (error) {
      setTimeout(() => this.flush(), RETRY_MS).unref();
    } else {
      this.#batch = this.#batch.subarray(written);
      if (this.#batch.length > 0 || this.#waiting_bytes >= BATCH_BYTES) this.flush();
    }
  }

  /** Takes the waiting lines. A line with the number of dropped lines follows them. */
  #takeWaiting(): Buffer {
    const missing = this.#dropped > 0 ? [Buffer.from(missingLines(this.#dropped))] : [];
    const lines = Buffer.concat([...this.#waiting, ...missing]);
    this.#waiting = [];
    this.#waiting_bytes = 0;
    this.#dropped = 0;
    return lines;
  }

  /**
   * Writes the waiting bytes at the end of the process. No callback runs any more, so the end of a
   * write in flight cannot be seen: it has a limited time, or the lines after it would come first.
   */
  #end(): void {
    let left = this.#takeWaiting();
    if (this.#writing_since === undefined) left = Buffer.concat([this.#batch, left]);
    else if (performance.now() - this.#writing_since > STALLED_MS) return;
    else pause(LAST_WRITE_MS);
    let taken_at = performance.now();
    while (left.length > 0 && performance.now() - taken_at < STALLED_MS) {
      const written = tryWrite(this.#fd, left);
      if (written === undefined) return;
      if (written > 0) taken_at = performance.now();
      else pause(LAST_RETRY_MS);
      left = left.subarray(written);
    }
  }
}

/** Writes once. Returns the number of bytes written; undefined for an error that will last. */
function tryWrite(fd: number, bytes: Buffer): number | undefined {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EAGAIN' ? 0 : undefined;
  }
}

/** Blocks the process, which is harmless at its end. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function missingLines(lines: number): string {
  const msg = 'log lines are missing here, as nobody took them';
  return `${JSON.stringify({ level: WARN, time: Date.now(), lines, msg })}\n`;
}
