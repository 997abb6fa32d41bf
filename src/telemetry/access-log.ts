import { pino, type Logger } from 'pino';

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
