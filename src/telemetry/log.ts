import { pino, type Logger } from 'pino';
import { write, writeSync } from 'node:fs';
import { inColour, plain } from '../lib/colour.js';
import type { LogLines } from './access-log.js';
import { plainError } from './plain-error.js';
import { textOf } from './request-line.js';
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
const AGAIN_MS = 25;
const CHUNK_BYTES = 64 * 1024;
/** A UTF-16 code unit takes at most so many bytes of UTF-8. */
const UNIT_BYTES = 3;
/** Lines beyond this many waiting bytes are dropped, and counted. */
const MAX_BYTES = 16 * 1024 ** 2;
/** How long the end of the process waits between two attempts to write. */
const LAST_MS = 20;
/** A reader that has taken nothing for so long is not waited for at the end. */
const STALLED_MS = 1_000;
const WARN = pino.levels.values['warn'];
const NOTHING = Buffer.alloc(0);

/**
 * Gathers log lines and writes them to a file descriptor in the background. pino's own destination
 * blocks requests, and the end of the process, when the disk is full or the reader has closed. This
 * one blocks neither. A line is encoded at once: lines kept as text live long enough for the
 * garbage collector to copy them, which costs a call more than the line itself.
 */
export class LogDestination {
  readonly #fd: number;
  /** Where the next line goes. */
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #used = 0;
  /** Those before it, and their bytes. */
  #full: Buffer[] = [];
  #full_bytes = 0;
  #dropped = 0;
  /** The bytes that are being written, or that could not be written yet. */
  #bytes: Buffer = NOTHING;
  #writing_since: number | undefined;
  /** The reader has closed its end. */
  #isClosed = false;

  constructor(fd: number) {
    this.#fd = fd;
    setInterval(() => this.flush(), FLUSH_MS).unref();
    process.once('exit', () => this.#end());
  }

  write(line: string): void {
    if (this.#isClosed) return;
    const most = line.length * UNIT_BYTES;
    if (this.#full_bytes + this.#used + most > MAX_BYTES) {
      this.#dropped++;
      return;
    }
    if (this.#used + most > this.#chunk.length) this.#begin(most);
    this.#used += this.#chunk.write(line, this.#used);
  }

  flush(): void {
    if (this.#writing_since !== undefined) return;
    if (this.#bytes.length === 0)
      this.#bytes = this.#full.length > 0 ? this.#oldest() : this.#rest();
    if (this.#bytes.length === 0) return;
    this.#writing_since = performance.now();
    write(this.#fd, this.#bytes, (error, written) => this.#written(error, written));
  }

  /** Begins a chunk that has room for so many bytes. */
  #begin(bytes: number): void {
    if (this.#used > 0) {
      this.#full.push(this.#chunk.subarray(0, this.#used));
      this.#full_bytes += this.#used;
    }
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
    this.#used = 0;
    this.flush();
  }

  #written(error: NodeJS.ErrnoException | null, written: number): void {
    this.#writing_since = undefined;
    if (error?.code === 'EPIPE') {
      this.#isClosed = true;
      this.#gathered();
      this.#bytes = NOTHING;
    } else if (error) {
      setTimeout(() => this.flush(), AGAIN_MS).unref();
    } else {
      this.#bytes = this.#bytes.subarray(written);
      if (this.#bytes.length > 0 || this.#full.length > 0) this.flush();
    }
  }

  /** The oldest full chunk. */
  #oldest(): Buffer {
    const bytes = this.#full.shift() ?? NOTHING;
    this.#full_bytes -= bytes.length;
    return bytes;
  }

  /** What the last chunk holds, and after it the number of lines that were dropped. */
  #rest(): Buffer {
    const bytes = this.#chunk.subarray(0, this.#used);
    const missing = this.#dropped > 0 ? missingLines(this.#dropped) : '';
    this.#used = 0;
    this.#dropped = 0;
    return Buffer.concat([bytes, Buffer.from(missing)]);
  }

  /** All that waits. */
  #gathered(): Buffer {
    const full = this.#full;
    this.#full = [];
    this.#full_bytes = 0;
    return Buffer.concat([...full, this.#rest()]);
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

/** The number of bytes written at once; undefined where writing will never succeed. */
function writtenOf(fd: number, bytes: Buffer): number | undefined {
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
