import { EventReader, type EventLimits } from '../upstream/events.js';
import type { ChatPiece, StreamDecoder } from './codec.js';

/** Where a stream's pieces come from, as many at a time as one packet held. */
export interface PieceSource {
  /** Undefined when the stream is over and whole; rejects with what broke it. */
  next(): Promise<readonly ChatPiece[] | undefined>;
  /** Ends the reading early. */
  leave(): void;
}

/**
 * The pieces of an upstream's stream. A packet is decoded in one go: each promise between its bytes
 * and the client would cost as much as decoding it.
 */
export class PieceReader implements PieceSource {
  readonly #packets: AsyncIterator<Uint8Array>;
  readonly #events: EventReader;
  readonly #decoder: StreamDecoder;
  #state: 'open' | 'over' | 'failed' = 'open';
  #error: unknown;

  constructor(body: AsyncIterable<Uint8Array>, limits: EventLimits, decoder: StreamDecoder) {
    this.#packets = body[Symbol.asyncIterator]();
    this.#events = new EventReader(limits);
    this.#decoder = decoder;
  }

  async next(): Promise<readonly ChatPiece[] | undefined> {
    while (this.#state === 'open') {
      const packet = await this.#packets.next();
      const pieces: ChatPiece[] = [];
      this.#decode(packet.done ? undefined : packet.value, pieces);
      // What came before an error in the same packet was said all the same.
      if (pieces.length > 0) return pieces;
    }
    if (this.#state === 'over') return undefined;
    this.#state = 'over';
    throw this.#error;
  }

  leave(): void {
    this.#state = 'over';
    // What its end would reject with has no reader any more.
    this.#packets.return?.().catch(() => undefined);
  }

  #decode(packet: Uint8Array | undefined, pieces: ChatPiece[]): void {
    try {
      if (!packet) this.#end(pieces);
      else if (this.#decoder.read(this.#events.read(packet), pieces)) this.leave();
    } catch (error) {
      this.leave();
      this.#state = 'failed';
      this.#error = error;
    }
  }

  #end(pieces: ChatPiece[]): void {
    this.#state = 'over';
    if (!this.#decoder.read(this.#events.finish(), pieces)) this.#decoder.end(pieces);
  }
}
