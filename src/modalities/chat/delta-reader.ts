import { AnswerBody } from '../../upstream/answer-body.js';
import type { ChatDelta, StreamDecoder, StreamFrames } from './codec.js';

export type DeltaConsumer = (deltas: readonly ChatDelta[]) => Promise<void> | undefined;

/** A source of the deltas of a stream, packet by packet. */
export interface DeltaSource {
  /**
   * Calls `take` with the deltas of each packet, and waits for the promise that it returns.
   * Resolves when the stream is complete or `leave` was called; rejects with the error of a broken
   * stream.
   */
  each(take: DeltaConsumer): Promise<void>;
  /** Ends the reading early. */
  leave(): void;
}

/**
 * The deltas of an upstream's stream. A packet is decoded synchronously: each promise between its
 * bytes and the client would cost as much as decoding it.
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

  /**
   * Resolves with the deltas of the next packet; undefined when the stream is complete. Rejects
   * with the `UpstreamError` of a broken stream.
   */
  async next(): Promise<readonly ChatDelta[] | undefined> {
    while (this.#state === 'open') {
      const packet = await this.#packets.next();
      const deltas: ChatDelta[] = [];
      this.#decode(packet.done ? undefined : packet.value, deltas);
      // The deltas before an error in the same packet are valid.
      if (deltas.length > 0) return deltas;
    }
    if (this.#state === 'over') return undefined;
    this.#state = 'over';
    throw this.#error;
  }

  async each(take: DeltaConsumer): Promise<void> {
    const packets = this.#packets;
    if (this.#state === 'open' && packets instanceof AnswerBody) {
      await packets.each((packet) => {
        const deltas: ChatDelta[] = [];
        this.#decode(packet, deltas);
        return deltas.length > 0 ? take(deltas) : undefined;
      });
    }
    // The deltas after the last packet, or all packets of another kind of body.
    for (let deltas = await this.next(); deltas; deltas = await this.next()) await take(deltas);
  }

  leave(): void {
    this.#state = 'over';
    // No one reads the error of the aborted body.
    this.#packets.return?.().catch(() => undefined);
  }

  #decode(packet: Uint8Array | undefined, deltas: ChatDelta[]): void {
    try {
      if (!packet) this.#end(deltas);
      else if (this.#decoder.read(this.#frames.read(packet), deltas)) this.leave();
    } catch (error) {
      this.leave();
      this.#state = 'failed';
      this.#error = error;
    }
  }

  #end(deltas: ChatDelta[]): void {
    this.#state = 'over';
    if (!this.#decoder.read(this.#frames.finish(), deltas)) this.#decoder.end(deltas);
  }
}
