import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { LARGE_BYTES } from '../lib/json-text.js';
import type { Room } from './memory-budget.js';

interface LargeTerms {
  limit_bytes: number;
  stall_ms: number;
  room: Room;
  admit: () => Promise<void>;
  /** The length that its head says; undefined where it says none. */
  announced: number | undefined;
  tooLarge: () => GatewayError;
}

/**
 * Reads a body that is large, or does not say how long it is. Its caller is judged, and its bytes
 * are counted, before they are held: at once where they are announced, else as they come. After a
 * refusal the rest of it is let through unread, so that the connection may go on.
 */
export async function gather(req: IncomingMessage, terms: LargeTerms): Promise<Buffer> {
  const { announced, room, admit } = terms;
  if (announced !== undefined) {
    await admit();
    room.take(announced);
  }
  const gathering = new Gathering(req, terms);
  try {
    return await gathering.whole;
  } finally {
    gathering.end();
  }
}

class Gathering {
  readonly whole: Promise<Buffer>;
  readonly #chunks: Buffer[] = [];
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  /** How many there were when the timer last rang. */
  #seen = 0;
  #isAdmitted: boolean;
  #fail: (error: unknown) => void = () => undefined;

  constructor(
    private readonly req: IncomingMessage,
    private readonly terms: LargeTerms,
  ) {
    this.#isAdmitted = terms.announced !== undefined;
    this.whole = new Promise((resolve, reject) => {
      this.#fail = reject;
      req.on('data', this.#take);
      req.once('end', () => resolve(Buffer.concat(this.#chunks, this.#bytes)));
      req.once('close', this.#cut);
      if (req.destroyed) this.#cut();
    });
    this.#timer = setInterval(() => this.#look(), terms.stall_ms);
  }

  end(): void {
    const { req } = this;
    clearInterval(this.#timer);
    req.off('data', this.#take).off('close', this.#cut);
    this.#chunks.length = 0;
    req.resume();
  }

  readonly #take = (chunk: Buffer): void => {
    const { limit_bytes, announced, room, tooLarge } = this.terms;
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > limit_bytes) throw tooLarge();
      if (announced === undefined) room.take(chunk.length);
      this.#chunks.push(chunk);
      if (!this.#isAdmitted && this.#bytes > LARGE_BYTES) this.#judge();
    } catch (error) {
      this.#fail(error);
    }
  };

  readonly #cut = (): void => {
    this.#fail(new GatewayError('invalid_request', 'The body did not arrive whole.'));
  };

  /** What was not announced is judged once it is large. */
  #judge(): void {
    this.#isAdmitted = true;
    this.req.pause();
    this.terms.admit().then(() => void this.req.resume(), this.#fail);
  }

  /** Enough is what lets a body of the largest size take some minutes. */
  #look(): void {
    const least = Math.min(LARGE_BYTES, (this.terms.announced ?? Infinity) - this.#seen);
    if (this.#bytes - this.#seen < least) {
      const message = 'The body came too slowly.';
      this.#fail(
        new GatewayError('request_timeout', message, { headers: { connection: 'close' } }),
      );
    }
    this.#seen = this.#bytes;
  }
}
