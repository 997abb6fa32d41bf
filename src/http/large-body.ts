import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { LARGE_BYTES } from '../lib/json-text.js';
import type { Room } from './memory-budget.js';

interface LargeTerms {
  limit_bytes: number;
  stall_ms: number;
  room: Room;
  admit: () => Promise<void>;
  /** The length that the head announces; undefined if it announces none. */
  announced: number | undefined;
  tooLarge: () => GatewayError;
}

/**
 * Reads a large body, or one of unknown length. It admits the caller and counts the bytes before it
 * holds them: at once if the length is announced, else as they come. After a refusal it discards
 * the rest, so that the connection stays usable.
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
  /** The number of bytes when the timer last fired. */
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

  /** A body of unknown length is admitted once it is large. */
  #judge(): void {
    this.#isAdmitted = true;
    this.req.pause();
    this.terms.admit().then(() => void this.req.resume(), this.#fail);
  }

  /** The minimum speed lets a body of the largest size take some minutes. */
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
