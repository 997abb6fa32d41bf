import { pino, type Logger } from 'pino';
import { write, writeSync } from 'node:fs';
import { inColour, plain } from '../lib/colour.js';
import { type LogLines, textOf } from './access-log.js';
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
export function createLog(level: string, style: LogStyle = 'json'): Log {
  const lines = new LogDestination(STANDARD_ERROR);
  const options = { level, base: null, serializers: { err: plainError } };
  if (style === 'json') return { log: pino(options, lines), lines };
  const paint = style === 'coloured' ? inColour : plain;
  const write = (json: string): void => lines.write(entryText(json, paint));
  const log = pino(options, { write, flush: () => lines.flush() } as pino.DestinationStream);
  return {
    log,
    lines: { write: (text) => lines.write(text), format: (line) => textOf(line, paint) },
  };
}

const FLUSH_MS = 1_000;
/** The delay before a failed write is repeated. */
const RETRY_MS = 25;
const CHUNK_BYTES = 64 * 1024;
/** The most bytes of UTF-8 that a UTF-16 code unit takes. */
const UNIT_BYTES = 3;
/** Lines beyond this many waiting bytes are dropped and counted. */
const MAX_BYTES = 16 * 1024 ** 2;
/** The delay between two attempts to write at the end of the process. */
const LAST_RETRY_MS = 20;
/** The end of the process does not wait for a reader that has taken nothing for this long. */
const STALLED_MS = 1_000;
/** How long the end of the process waits for a write in flight, whose result it cannot see. */
const LAST_WRITE_MS = 250;
const WARN = pino.levels.values['warn'];
const NOTHING = Buffer.alloc(0);

/**
 * Gathers log lines in chunks and writes them to a file descriptor in the background. pino's own
 * destination blocks requests, and the end of the process, when the disk is full or the reader has
 * closed. This one blocks neither. It encodes each line at once: lines kept as strings live long
 * enough for the garbage collector to copy them, which costs more than the encoding.
 */
export class LogDestination {
  readonly #fd: number;
  /** The chunk that takes the next line. */
  #chunk: Buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #used = 0;
  /** A chunk that was written. New chunks survive collections, which then come often. */
  #spare: Buffer | undefined;
  /** The full chunks before it, oldest first, and the sum of their bytes. */
  #full: Buffer[] = [];
  #full_bytes = 0;
  #dropped = 0;
  /** The bytes of the write in flight, or of a failed write that is repeated later. */
  #bytes: Buffer = NOTHING;
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
    const max_bytes = line.length * UNIT_BYTES;
    if (this.#full_bytes + this.#used + max_bytes > MAX_BYTES) {
      this.#dropped++;
      return;
    }
    if (this.#used + max_bytes > this.#chunk.length) this.#begin(max_bytes);
    this.#used += this.#chunk.write(line, this.#used);
  }

  /** Starts to write the waiting lines, unless a write is in flight. */
  flush(): void {
    if (this.#writing_since !== undefined) return;
    if (this.#bytes.length === 0)
      this.#bytes = this.#full.length > 0 ? this.#takeOldest() : this.#takeLast();
    if (this.#bytes.length === 0) return;
    this.#writing_since = performance.now();
    write(this.#fd, this.#bytes, (error, written) => this.#written(error, written));
  }

  /** Begins a chunk that has room for `bytes`. */
  #begin(bytes: number): void {
    if (this.#used > 0) {
      this.#full.push(this.#chunk.subarray(0, this.#used));
      this.#full_bytes += this.#used;
    }
    const spare = bytes <= CHUNK_BYTES ? this.#spare : undefined;
    if (spare) this.#spare = undefined;
    this.#chunk = spare ?? Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
    this.#used = 0;
    this.#schedule();
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
      this.#takeAll();
      this.#bytes = NOTHING;
    } else if (error) {
      setTimeout(() => this.flush(), RETRY_MS).unref();
    } else {
      const { buffer } = this.#bytes;
      this.#bytes = this.#bytes.subarray(written);
      const isChunk = buffer.byteLength === CHUNK_BYTES;
      if (this.#bytes.length === 0 && isChunk) this.#spare = Buffer.from(buffer);
      if (this.#bytes.length > 0 || this.#full.length > 0) this.flush();
    }
  }

  /** Takes the oldest full chunk. */
  #takeOldest(): Buffer {
    const bytes = this.#full.shift() ?? NOTHING;
    this.#full_bytes -= bytes.length;
    return bytes;
  }

  /** Takes the bytes of the last chunk. A line with the number of dropped lines follows them. */
  #takeLast(): Buffer {
    const bytes = this.#chunk.subarray(0, this.#used);
    const missing = this.#dropped > 0 ? missingLines(this.#dropped) : '';
    this.#used = 0;
    this.#dropped = 0;
    return Buffer.concat([bytes, Buffer.from(missing)]);
  }

  /** Takes all waiting bytes, without those of the write in flight. */
  #takeAll(): Buffer {
    const full = this.#full;
    this.#full = [];
    this.#full_bytes = 0;
    return Buffer.concat([...full, this.#takeLast()]);
  }

  /**
   * Writes the waiting bytes at the end of the process. No callback runs any more, so the end of a
   * write in flight cannot be seen: it has a limited time, or the lines after it would come first.
   */
  #end(): void {
    let left = this.#takeAll();
    if (this.#writing_since === undefined) left = Buffer.concat([this.#bytes, left]);
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
