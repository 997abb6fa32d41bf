import type { Logger } from 'pino';
import { type RequestRecord, FLAGS } from '../core/request-record.js';
import type { RecordSink } from './record-sink.js';
import { plain, type Colour, type Paint } from '../lib/colour.js';
import { formatDollars } from '../lib/money.js';

/** The destination of a log. */
export interface LogLines {
  /** Takes one line, with its line end. */
  write(line: string): void;
  /** Formats the line of a request. Without it, lines are JSON. */
  format?: (line: RequestLine) => string;
}

/** An endpoint of gateway.yaml; `name` is its name in records. */
interface Endpoint {
  name: string;
  method: string;
  path: string;
}

/**
 * Writes one line for each request. With `lines`, the destination of a logger without bindings, the
 * line goes there directly, which takes a fifth of the time. Without `lines` it goes through the
 * logger.
 */
export class AccessLog implements RecordSink {
  readonly #format: (line: RequestLine) => string;
  #calls: ReadonlyMap<string, string> = new Map();

  constructor(
    private readonly log: Logger,
    private readonly lines?: LogLines,
    private readonly now: () => number = Date.now,
  ) {
    this.#format = lines?.format ?? jsonOf;
  }

  /** Sets the endpoints that are served from now on. */
  serve(endpoints: readonly Endpoint[]): void {
    this.#calls = new Map(endpoints.map(({ name, method, path }) => [name, `${method} ${path}`]));
  }

  take(record: RequestRecord): void {
    const { endpoint } = record;
    this.#write(lineOf(record, this.#calls.get(endpoint) ?? endpoint, this.now()));
  }

  /**
   * Writes the line of a request without a record: its caller is unknown, or it asks for no work.
   */
  write(line: Omit<RequestLine, 'time_ms'>): void {
    this.#write({ time_ms: this.now(), ...line });
  }

  #write(line: RequestLine): void {
    const level = isFault(line) ? 'warn' : 'info';
    if (!this.log.isLevelEnabled(level)) return;
    if (this.lines) this.lines.write(this.#format(line));
    else {
      const { level: _level, time: _time, msg, ...fields } = lineFields(line);
      this.log[level](fields, msg);
    }
  }
}

/** The fields of a request in the access log. A field that is null or undefined is left out. */
export interface RequestLine {
  /** When the line is written, in ms since 1970. */
  time_ms: number;
  request_id: string;
  status: number;
  /** Method and path, such as `POST /v1/chat/completions`. */
  call: string;
  took_ms: number;
  /** The time until the first output of a stream. */
  first_ms?: number | null | undefined;
  account?: string | undefined;
  model?: string | null | undefined;
  /** The provider that answered, or the last one asked. */
  upstream?: string | null | undefined;
  prompt_tokens?: number | null | undefined;
  completion_tokens?: number | null | undefined;
  cost_nano?: bigint | undefined;
  uncollected_nano?: bigint | undefined;
  code?: string | null | undefined;
  /** The answer broke off after it had begun. */
  isCut?: boolean;
}

/** The line of a record. `call` is the method and the path of its endpoint. */
export function lineOf(record: RequestRecord, call: string, time_ms: number): RequestLine {
  const { id: request_id, status, took_ms, account_id: account, model, code } = record;
  const { prompt_tokens, completion_tokens, cost_nano, uncollected_nano } = record;
  return {
    time_ms,
    request_id,
    status,
    call,
    took_ms,
    first_ms: record.first_token_ms,
    account,
    model,
    upstream: record.provider,
    prompt_tokens,
    completion_tokens,
    cost_nano: code === null || cost_nano > 0n ? cost_nano : undefined,
    uncollected_nano: uncollected_nano > 0n ? uncollected_nano : undefined,
    code,
    isCut: (record.flags & FLAGS.cut) !== 0,
  };
}

/** Whether the gateway or an upstream is at fault, not the client. */
function isFault({ status, isCut }: Pick<RequestLine, 'status' | 'isCut'>): boolean {
  return status >= 500 || isCut === true;
}

/** Every JSON line has fewer bytes, including its line end. */
const LINE_BYTES = 300;
/** The maximum lengths of names in a line that is too long. The first that makes it fit is used. */
const MAX_NAME_CHARACTERS = [60, 45, 36, 32, 30, 28, 26, 24, 22, 20, 16, 12, 8, 4, 0];
const INFO = 30;
const WARN = 40;
const BEYOND_ASCII = /[\u007F-\uFFFF]/g;

/** A line as JSON in ASCII. In a line that is too long, call, model, upstream and code are cut. */
export function jsonOf(line: RequestLine): string {
  let text = jsonWith(line, Infinity);
  for (let at = 0; text.length >= LINE_BYTES && at < MAX_NAME_CHARACTERS.length; at++) {
    text = jsonWith(line, MAX_NAME_CHARACTERS[at] ?? 0);
  }
  return text;
}

function jsonWith(line: RequestLine, max: number): string {
  return `${JSON.stringify(lineFields(line, max)).replaceAll(BEYOND_ASCII, escaped)}\n`;
}

/** The fields as they are written. Names are cut to `max` characters. */
function lineFields(line: RequestLine, max = Infinity) {
  const { first_ms, cost_nano, uncollected_nano } = line;
  const cut = (name?: string | null): string | undefined =>
    name == null ? undefined : cutTo(name, max);
  return {
    level: isFault(line) ? WARN : INFO,
    time: line.time_ms,
    request_id: line.request_id,
    status: line.status,
    ms: rounded(line.took_ms),
    first_ms: first_ms == null ? undefined : rounded(first_ms),
    account: line.account,
    model: cut(line.model),
    upstream: cut(line.upstream),
    in: line.prompt_tokens ?? undefined,
    out: line.completion_tokens ?? undefined,
    cost: cost_nano === undefined ? undefined : formatDollars(cost_nano),
    uncollected: uncollected_nano === undefined ? undefined : formatDollars(uncollected_nano),
    code: cut(line.code),
    msg: cutTo(line.call, max),
  };
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Cuts a text to `max` characters. Three dots stand for the rest. */
function cutTo(text: string, max: number): string {
  if (text.length <= max) return text;
  return max <= 3 ? text.slice(0, max) : `${text.slice(0, max - 3)}...`;
}

/** Rounds short times to tenths of a millisecond, and longer ones to milliseconds. */
function rounded(ms: number): number {
  return ms >= 100 ? Math.round(ms) : Math.round(ms * 10) / 10;
}

type LinePart = readonly [text: string, colour?: Colour];

/**
 * A line as text for a terminal, with a line end. The parts at the right that do not fit into
 * `columns` are left out, the request ID first.
 */
export function textOfLine(line: RequestLine, paint: Paint = plain, columns = Infinity): string {
  let text = '';
  let used = -1;
  for (const [part, colour] of partsOfLine(line)) {
    if (part === '') continue;
    if (used + 1 + part.length > columns) break;
    text += (used < 0 ? '' : ' ') + (colour ? paint(colour, part) : part);
    used += 1 + part.length;
  }
  return `${text}\n`;
}

function partsOfLine(line: RequestLine): LinePart[] {
  const { status, upstream, model, prompt_tokens, completion_tokens, cost_nano } = line;
  const outcome = isFault(line) ? 'red' : status >= 400 ? 'yellow' : 'green';
  const first = line.first_ms == null ? '' : ` (first ${seconds(line.first_ms)})`;
  return [
    [clock(line.time_ms), 'dim'],
    [String(status), outcome],
    [legible(line.call)],
    [legible(line.code ?? ''), outcome],
    [legible(model ?? ''), 'cyan'],
    [upstream == null ? '' : `via ${legible(upstream)}`],
    [prompt_tokens == null ? '' : `${prompt_tokens}+${completion_tokens ?? 0} tokens`],
    [`${seconds(line.took_ms)}${first}`],
    [dollars('', cost_nano)],
    [dollars('uncollected ', line.uncollected_nano), 'yellow'],
    [legible(line.account ?? ''), 'dim'],
    [line.request_id, 'dim'],
  ];
}

function dollars(before: string, nano: bigint | undefined): string {
  return nano === undefined ? '' : `${before}$${formatDollars(nano)}`;
}

/** `12:34:56.789` on this machine's clock. */
export function clock(ms: number): string {
  const at = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const thousandths = String(at.getMilliseconds()).padStart(3, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${thousandths}`;
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${rounded(ms)}ms` : `${(ms / 1_000).toFixed(2)}s`;
}

const CALL_CHARACTERS = 200;
/** Characters that a terminal may take for a command, or that change the direction of text. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** Makes text of clients and upstreams safe to print in one line: control characters become `?`. */
export function legible(text: string, max = CALL_CHARACTERS): string {
  return text.slice(0, max).replaceAll(CONTROL, '?');
}
