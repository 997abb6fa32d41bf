import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import type { EventLimits, ServerSentEvent, StreamFrames } from '../../src/upstream/sse.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

/** Lengths of the frame and of its headers, and the checksum over both: 4 bytes each. */
const PRELUDE_BYTES = 12;
/** The prelude, and the checksum at the end. */
const LEAST_BYTES = 16;

/** Stand before the names of the two kinds of event that end a stream. No upstream sends them. */
const EXCEPTION = 'exception:';
const BROKEN = 'broken:';

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/**
 * Reads the frames of `application/vnd.amazon.eventstream`. An event has the name and the payload
 * of its frame. An invalid frame becomes the last event, so that the events before it in the same
 * packet are not lost. Throws `UpstreamError` beyond the limit of the stream.
 */
export function openFrames(limits: EventLimits): StreamFrames {
  return new FrameReader(limits);
}

/** The exception that an event stands for, in the words of the service; undefined for others. */
export function exceptionIn({ event = '' }: ServerSentEvent): string | undefined {
  return event.startsWith(EXCEPTION) ? event.slice(EXCEPTION.length) : undefined;
}

/** Throws the `UpstreamError` `broken` of an event that stands for a broken frame. */
export function refuseBroken({ event, data }: ServerSentEvent): void {
  if (event === BROKEN) throw new UpstreamError('broken', data);
}

class FrameReader implements StreamFrames {
  readonly #limits: EventLimits;
  #held: Uint8Array[] = [];
  #held_bytes = 0;
  /** How many bytes must be held before there is anything to do. */
  #needed_bytes = PRELUDE_BYTES;
  #stream_bytes = 0;

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  read(packet: Uint8Array): readonly ServerSentEvent[] {
    const { stream_bytes } = this.#limits;
    this.#stream_bytes += packet.length;
    if (this.#stream_bytes > stream_bytes) {
      throw new UpstreamError(
        'broken',
        `The upstream sent a stream of over ${stream_bytes} bytes.`,
      );
    }
    this.#held.push(packet);
    this.#held_bytes += packet.length;
    return this.#held_bytes < this.#needed_bytes ? [] : this.#readHeld();
  }

  finish(): readonly ServerSentEvent[] {
    return this.#held_bytes === 0 ? [] : [broken("The upstream's stream broke off in a frame.")];
  }

  #readHeld(): ServerSentEvent[] {
    const bytes = Buffer.concat(this.#held);
    const events: ServerSentEvent[] = [];
    let at = 0;
    try {
      for (;;) {
        const rest = bytes.subarray(at);
        this.#needed_bytes = rest.length < PRELUDE_BYTES ? PRELUDE_BYTES : this.#lengthOf(rest);
        if (rest.length < this.#needed_bytes) break;
        const event = eventOf(rest.subarray(0, this.#needed_bytes));
        if (event) events.push(event);
        at += this.#needed_bytes;
      }
    } catch (error) {
      events.push(broken(error instanceof UpstreamError ? error.message : UNREADABLE));
    }
    this.#held = [bytes.subarray(at)];
    this.#held_bytes = bytes.length - at;
    return events;
  }

  /** The length of the frame that begins here. A wrong one must not be waited for. */
  #lengthOf(bytes: Buffer): number {
    if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw new Error(UNREADABLE);
    const length = bytes.readUInt32BE(0);
    const { event_bytes } = this.#limits;
    if (length > event_bytes) {
      throw new UpstreamError('broken', `The upstream sent an event of over ${event_bytes} bytes.`);
    }
    if (length < LEAST_BYTES + bytes.readUInt32BE(4)) throw new Error(UNREADABLE);
    return length;
  }
}

const UNREADABLE = 'The upstream sent a frame that is damaged.';

function broken(data: string): ServerSentEvent {
  return { event: BROKEN, data };
}

/** Throws where a checksum is wrong, or a header is none. Undefined for a frame without a name. */
function eventOf(frame: Uint8Array): ServerSentEvent | undefined {
  const { headers, body } = codec.decode(frame);
  const text = (name: string): string | undefined => {
    const value = headers[name]?.value;
    return typeof value === 'string' ? value : undefined;
  };
  const data = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  switch (text(':message-type')) {
    case 'exception':
      return { event: EXCEPTION + (text(':exception-type') ?? ''), data };
    case 'error': {
      const message = text(':error-message') ?? '';
      return {
        event: EXCEPTION + (text(':error-code') ?? ''),
        data: JSON.stringify({ message }),
      };
    }
    default: {
      const event = text(':event-type');
      return event === undefined ? undefined : { event, data };
    }
  }
}
