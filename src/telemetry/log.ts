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
const GATHERED_CHARACTERS = 64_000;
/** Lines beyond this many waiting characters are dropped, and counted. */
const MAX_CHARACTERS = 16 * 1024 ** 2;
/** How long the end of the process waits between two attempts to write. */
const LAST_MS = 20;
/** A reader that has taken nothing for so long is not waited for at the end. */
const STALLED_MS = 1_000;
const WARN = pino.levels.values['warn'];
const NOTHING = Buffer.alloc(0);

/**
 * Gathers log lines and writes them to a file descriptor in the background. pino's own destination
 * blocks requests, and the end of the process, when the disk is full or the reader has closed. This
 * one blocks neither.
 */
export class LogDestination {
  readonly #fd: number;
  #lines: string[] = [];
  #characters = 0;
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
    if (this.#characters + line.length > MAX_CHARACTERS) {
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
      this.#isClosed = true;
      this.#gathered();
      this.#bytes = NOTHING;
    } else if (error) {
      setTimeout(() => this.flush(), AGAIN_MS).unref();
    } else {
      this.#bytes = this.#bytes.subarray(written);
      if (this.#bytes.length > 0 || this.#characters >= GATHERED_CHARACTERS) this.flush();
    }
  }

  /** The waiting lines, and after them the number of those that were dropped. */
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

function missing(lines: number): string {
  const msg = 'log lines are missing here, as nobody took them';
  return `${JSON.stringify({ level: WARN, time: Date.now(), lines, msg })}\n`;
}
