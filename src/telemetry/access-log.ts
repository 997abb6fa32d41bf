import type { Logger } from 'pino';
import type { RequestRecord } from '../core/request-record.js';
import { isFault, jsonOf, lineOf, type RequestLine } from './request-line.js';
import type { RecordSink } from './request-recorder.js';

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
    else this.log[level](fieldsOf(line), line.call);
  }
}

/** Fields that pino writes itself. */
const PINO_FIELDS: ReadonlySet<string> = new Set(['level', 'time', 'msg']);

/** The fields of a line, parsed from its JSON. A gateway under load writes to `lines` instead. */
function fieldsOf(line: RequestLine): object {
  const fields = JSON.parse(jsonOf(line)) as object;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !PINO_FIELDS.has(name)));
}
