import { AnswerBody } from '../../upstream/answer-body.js';
import type { ChatDelta, StreamDecoder, StreamFrames } from './codec.js';

export type DeltaConsumer = (pieces: readonly ChatDelta[]) => Promise<void> | undefined;

/** Where a stream's pieces come from, as many at a time as one packet held. */
export interface DeltaSource {
  /**
   * Gives all pieces there are, and waits for each promise that it is answered. Resolves when the
   * stream is over and whole, or was left; rejects with what broke it.
   */
  each(take: DeltaConsumer): Promise<void>;
  /** Ends the reading early. */
  leave(): void;
}

/**
 * The pieces of an upstream's stream. A packet is decoded in one go: each promise between its bytes
 * and the client would cost as much as decoding it.
 */
export class DeltaReader implements DeltaSource {
  readonly #packets: AsyncIterator<Uint8Array>;
  readonly #frames: StreamFrames;
  readonly #decoder: StreamDecoder;
  #state: 'open' | 'over' | 'failed' = 'open';
  #error: unknown;

  constructor(body: AsyncIterable<Uint8Array>, frames: StreamFrames, decoder: StreamDecoder) {
    this.#packets = body[Symbol.asyncIterator]();
    this.#frames = frames;
    this.#decoder = decoder;
  }

  /** The pieces of one packet; undefined when the stream is over and whole. */
  async next(): Promise<readonly ChatDelta[] | undefined> {
    while (this.#state === 'open') {
      const packet = await this.#packets.next();
      const pieces: ChatDelta[] = [];
      this.#decode(packet.done ? undefined : packet.value, pieces);
      // What came before an error in the same packet was said all the same.
      if (pieces.length > 0) return pieces;
    }
    if (this.#state === 'over') return undefined;
    this.#state = 'over';
    throw this.#error;
  }

  async each(take: DeltaConsumer): Promise<void> {
    const packets = this.#packets;
    if (this.#state === 'open' && packets instanceof AnswerBody) {
      await packets.each((packet) => {
        const pieces: ChatDelta[] = [];
        this.#decode(packet, pieces);
        return pieces.length > 0 ? take(pieces) : undefined;
      });
    }
    // Nothing, or what comes after the last packet, or the packets of any other body.
    for (let pieces = await this.next(); pieces; pieces = await this.next()) await take(pieces);
  }

  leave(): void {
    this.#state = 'over';
    // What its end would reject with has no reader any more.
    this.#packets.return?.().catch(() => undefined);
  }

  #decode(packet: Uint8Array | undefined, pieces: ChatDelta[]): void {
    try {
      if (!packet) this.#end(pieces);
      else if (this.#decoder.read(this.#frames.read(packet), pieces)) this.leave();
    } catch (error) {
      this.leave();
      this.#state = 'failed';
      this.#error = error;
    }
  }

  #end(pieces: ChatDelta[]): void {
    this.#state = 'over';
    if (!this.#decoder.read(this.#frames.finish(), pieces)) this.#decoder.end(pieces);
  }
}
