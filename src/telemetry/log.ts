import { pino, type Logger } from 'pino';
import { GatewayError } from '../core/errors.js';
import { UpstreamError } from '../core/upstream-error.js';
import { write, writeSync } from 'node:fs';

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

const FLUSH_MS = 1_000;
const AGAIN_MS = 25;
const GATHERED_CHARACTERS = 16_000;
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

/** The facts that the access log gives of a request. An undefined one is left out. */
export interface RequestLine {
  request_id: string;
  endpoint: string | undefined;
  status: number;
  took_ms: number;
  account: string | undefined;
  model: string | undefined;
  cost_nano: bigint | undefined;
  uncollected_nano?: bigint | undefined;
}

/** The destination of a log: takes one line of JSON, with its line end. */
export interface LogLines {
  write(line: string): void;
}

/** Text that needs no escape in JSON. */
const PLAIN = /^[\w ./:@+-]*$/u;
const LEVEL = pino.levels.values['info'];

/**
 * Writes one line for each request. Where `lines` is given, the destination of a logger without
 * bindings, the line goes there directly. It equals the line of `log.info`, which takes five times
 * as long because it checks the type of each field. Without `lines` it goes through the logger.
 */
export class AccessLog {
  constructor(
    private readonly log: Logger,
    private readonly lines?: LogLines,
  ) {}

  write(line: RequestLine): void {
    if (!this.log.isLevelEnabled('info')) return;
    if (this.lines) this.lines.write(textOf(line));
    else this.log.info(fieldsOf(line));
  }
}

function textOf(line: RequestLine): string {
  const { request_id, endpoint, status, took_ms, account, model, cost_nano, uncollected_nano } =
    line;
  const text =
    `{"level":${LEVEL},"time":${Date.now()}` +
    field('request_id', request_id) +
    field('endpoint', endpoint) +
    `,"status":${status},"took_ms":${tenths(took_ms)}` +
    field('account', account) +
    field('model', model) +
    field('cost_nano', cost_nano?.toString()) +
    field('uncollected_nano', uncollected_nano?.toString());
  return `${text}}\n`;
}

function field(name: string, value: string | undefined): string {
  if (value === undefined) return '';
  return PLAIN.test(value) ? `,"${name}":"${value}"` : `,"${name}":${JSON.stringify(value)}`;
}

function fieldsOf(line: RequestLine): object {
  return {
    ...line,
    took_ms: tenths(line.took_ms),
    cost_nano: line.cost_nano?.toString(),
    uncollected_nano: line.uncollected_nano?.toString(),
  };
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
