import { createParser, type EventSourceParser, type ParseError } from 'eventsource-parser';
import { parseJson } from '../lib/json-text.js';
import { isRecord } from '../lib/objects.js';
import { UpstreamError } from '../core/upstream-error.js';
import { ReplyBody } from './reply-body.js';

const STREAMING = { stream: true };
/** The most lines of a stream that are no fields; the parser makes an `Error` for each. */
const MAX_STRAY_LINES = 1_000;
/** The most lines of an event. The parser keeps more of each line than its characters. */
const MAX_EVENT_LINES = 100_000;
/** The first byte of a byte order mark in UTF-8. */
const MARK_BEGINS = 0xef;
const MANY_LINES = `The upstream sent over ${MAX_EVENT_LINES} lines without an event.`;
const NONE: readonly ServerSentEvent[] = [];

export interface EventLimits {
  /** The maximum size of one event. */
  event_bytes: number;
  stream_bytes: number;
}

/**
 * Reads server-sent events from packets. It drops comments, and the last event needs no blank line
 * after it. A JSON error in the stream without `data:` becomes an event called `error`. Throws
 * `UpstreamError` past a limit.
 */
export class EventReader {
  readonly #limits: EventLimits;
  readonly #parser: EventSourceParser;
  /** Made at the first packet that needs one: most streams have none. */
  #decoder: TextDecoder | undefined;
  #bytes = 0;
  /** Whether no byte of earlier packets is pending. */
  #isWhole = true;
  #events: ServerSentEvent[] = [];
  /** Lines of a bare JSON text, from its first brace on. */
  #bare: string[] = [];
  #bare_length = 0;
  #oversize = false;
  #strays = 0;
  /** The lines since the last event. */
  #lines = 0;
  /** The last packet ended with a carriage return, to which a line feed may belong. */
  #isInLineEnd = false;

  constructor(limits: EventLimits) {
    this.#limits = limits;
    this.#parser = createParser({
      onEvent: ({ event, data }) => {
        this.#events.push({ event, data });
      },
      onError: (error) => this.#stray(error),
      maxBufferSize: limits.event_bytes,
    });
  }

  /** The events that the packet has completed. */
  read(packet: Uint8Array): readonly ServerSentEvent[] {
    const { stream_bytes } = this.#limits;
    this.#bytes += packet.length;
    if (this.#bytes > stream_bytes) throw tooLarge('a stream', stream_bytes);
    return this.#feed(this.#textOf(packet));
  }

  /**
   * Decodes a packet. One that begins and ends between characters needs no state of the decoder,
   * which also drops a byte order mark at the start of the stream.
   */
  #textOf(packet: Uint8Array): string {
    const isWhole = (packet.at(-1) ?? 0xff) < 0x80;
    const isFirst = this.#bytes === packet.length;
    const isPlain = this.#isWhole && isWhole && !(isFirst && packet[0] === MARK_BEGINS);
    if (isPlain && Buffer.isBuffer(packet)) return packet.toString();
    this.#isWhole = isWhole;
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: !isFirst });
    return this.#decoder.decode(packet, STREAMING);
  }

  /** The events that were still open when the bytes ended. */
  finish(): readonly ServerSentEvent[] {
    // A line end and a blank line complete it.
    const events = this.#feed(`${this.#decoder?.decode() ?? ''}\n\n`);
    const error = bareError(this.#bare.join('\n'));
    return error === undefined ? events : [...events, { event: 'error', data: error }];
  }

  #feed(packet: string): readonly ServerSentEvent[] {
    const text = this.#withLineFeeds(packet);
    this.#parser.feed(text);
    const { event_bytes } = this.#limits;
    if (this.#oversize || this.#bare_length > event_bytes) throw tooLarge('an event', event_bytes);
    if (this.#events.length === 0) {
      this.#lines += text.split('\n', MAX_EVENT_LINES).length - 1;
      if (this.#lines >= MAX_EVENT_LINES) throw broken(MANY_LINES);
      return NONE;
    }
    this.#lines = 0;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Ends all lines alike: of mixed ends, the parser searches the whole packet at each line. */
  #withLineFeeds(text: string): string {
    const rest = this.#isInLineEnd && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.#isInLineEnd = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/gu, '\n') : rest;
  }

  /** Handles a line that is no field, no comment and not blank. */
  #stray({ type, line = '' }: ParseError): void {
    this.#strays += 1;
    if (this.#strays > MAX_STRAY_LINES) throw broken('The upstream sent no server-sent events.');
    if (type === 'max-buffer-size-exceeded') this.#oversize = true;
    if (type !== 'unknown-field') return;
    // Unknown fields of a later version are ignored. JSON begins with a bracket.
    if (this.#bare.length === 0 && !/^\s*[[{]/u.test(line)) return;
    this.#bare.push(line);
    this.#bare_length += line.length;
  }
}

function bareError(text: string): string | undefined {
  const parsed = parseJson(text);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  return isRecord(first) && first.error ? text : undefined;
}

function tooLarge(noun: string, limit_bytes: number): UpstreamError {
  return broken(`The upstream sent ${noun} of over ${limit_bytes} bytes.`);
}

function broken(message: string): UpstreamError {
  return new UpstreamError('broken', message);
}

export interface ServerSentEvent {
  event: string | undefined;
  data: string;
}

/** Splits one stream of bytes into events. Throws `UpstreamError`. */
export interface StreamFrames {
  /** Returns the events that this packet completes. */
  read(packet: Uint8Array): readonly ServerSentEvent[];
  /** Returns the events that were incomplete when the bytes ended. */
  finish(): readonly ServerSentEvent[];
}

/** Decodes the events of one stream, packet by packet. Throws `UpstreamError`. */
export interface EventDecoder<Item> {
  /**
   * Adds the items of a packet to `items`, including those before an error that it throws.
   * Returns true once the stream has marked its end.
   */
  read(events: readonly ServerSentEvent[], items: Item[]): boolean;
  /** Called when the bytes have ended. Throws unless the answer is complete. */
  end(items: Item[]): void;
}

type ItemConsumer<Item> = (items: readonly Item[]) => Promise<void> | undefined;

/**
 * Reads the items, such as the deltas of a chat, into which a decoder turns an upstream's stream. A
 * packet is decoded synchronously: each promise between its bytes and the client would cost as much
 * as decoding it.
 */
export class StreamReader<Item> {
  readonly #packets: AsyncIterator<Uint8Array>;
  readonly #frames: StreamFrames;
  readonly #decoder: EventDecoder<Item>;
  #state: 'open' | 'over' | 'failed' = 'open';
  #error: unknown;

  constructor(body: AsyncIterable<Uint8Array>, frames: StreamFrames, decoder: EventDecoder<Item>) {
    this.#packets = body[Symbol.asyncIterator]();
    this.#frames = frames;
    this.#decoder = decoder;
  }

  /**
   * Resolves with the items of the next packet; undefined when the stream is complete. Rejects
   * with the `UpstreamError` of a broken stream.
   */
  async next(): Promise<readonly Item[] | undefined> {
    while (this.#state === 'open') {
      const packet = await this.#packets.next();
      const items: Item[] = [];
      this.#decode(packet.done ? undefined : packet.value, items);
      // The items before an error in the same packet are valid.
      if (items.length > 0) return items;
    }
    if (this.#state === 'over') return undefined;
    this.#state = 'over';
    throw this.#error;
  }

  /**
   * Calls `take` with the items of each packet, and waits for the promise that it returns. Resolves
   * when the stream is complete or `leave` was called; rejects as `next` does.
   */
  async each(take: ItemConsumer<Item>): Promise<void> {
    const packets = this.#packets;
    if (this.#state === 'open' && packets instanceof ReplyBody) {
      await packets.each((packet) => {
        const items: Item[] = [];
        this.#decode(packet, items);
        return items.length > 0 ? take(items) : undefined;
      });
    }
    // The items after the last packet, or all packets of another kind of body.
    for (let items = await this.next(); items; items = await this.next()) await take(items);
  }

  /** Ends the reading early. */
  leave(): void {
    this.#state = 'over';
    // No one reads the error of the aborted body.
    this.#packets.return?.().catch(() => undefined);
  }

  #decode(packet: Uint8Array | undefined, items: Item[]): void {
    try {
      if (!packet) this.#end(items);
      else if (this.#decoder.read(this.#frames.read(packet), items)) this.leave();
    } catch (error) {
      this.leave();
      this.#state = 'failed';
      this.#error = error;
    }
  }

  #end(items: Item[]): void {
    this.#state = 'over';
    if (!this.#decoder.read(this.#frames.finish(), items)) this.#decoder.end(items);
  }
}
