import { createParser, type EventSourceParser, type ParseError } from 'eventsource-parser';
import type { ServerSentEvent } from '../chat/codec.js';
import { isRecord } from '../is-record.js';
import { UpstreamError } from './fault.js';

export interface EventLimits {
  /** The most that one event may weigh. */
  event_bytes: number;
  stream_bytes: number;
}

/**
 * The events of a server-sent stream, one array for each packet that completed at least one.
 * Comments are swallowed; a last event needs no blank line after it. A JSON error that stands in
 * the stream without `data:` becomes an event called `error`. Throws `UpstreamError` past a limit.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  limits: EventLimits,
): AsyncGenerator<readonly ServerSentEvent[], undefined> {
  const reader = new EventReader(limits.event_bytes);
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limits.stream_bytes) throw tooLarge('a stream', limits.stream_bytes);
    const events = reader.read(decoder.decode(chunk, { stream: true }));
    if (events.length > 0) yield events;
  }
  const last = reader.finish(decoder.decode());
  if (last.length > 0) yield last;
}

class EventReader {
  readonly #limit: number;
  readonly #parser: EventSourceParser;
  #events: ServerSentEvent[] = [];
  /** Lines of a bare JSON text, from its first brace on. */
  #bare: string[] = [];
  #bare_length = 0;
  #oversize = false;

  constructor(event_bytes: number) {
    this.#limit = event_bytes;
    this.#parser = createParser({
      onEvent: ({ event, data }) => {
        this.#events.push({ event, data });
      },
      onError: (error) => this.#stray(error),
      maxBufferSize: event_bytes,
    });
  }

  read(text: string): readonly ServerSentEvent[] {
    this.#parser.feed(text);
    if (this.#oversize || this.#bare_length > this.#limit) throw tooLarge('an event', this.#limit);
    if (this.#events.length === 0) return this.#events;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  finish(text: string): readonly ServerSentEvent[] {
    // A line end and a blank line complete whatever was still open.
    const events = this.read(`${text}\n\n`);
    const error = bareError(this.#bare.join('\n'));
    return error === undefined ? events : [...events, { event: 'error', data: error }];
  }

  /** A line that is no field, no comment and not blank. */
  #stray({ type, line = '' }: ParseError): void {
    if (type === 'max-buffer-size-exceeded') this.#oversize = true;
    if (type !== 'unknown-field') return;
    // Fields from a later version of the format are to be ignored; JSON opens with a bracket.
    if (this.#bare.length === 0 && !/^\s*[[{]/u.test(line)) return;
    this.#bare.push(line);
    this.#bare_length += line.length;
  }
}

function bareError(text: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isRecord(first) && first['error'] ? text : undefined;
  } catch {
    return undefined;
  }
}

function tooLarge(what: string, limit_bytes: number): UpstreamError {
  return new UpstreamError('broken', `The upstream sent ${what} of over ${limit_bytes} bytes.`);
}
