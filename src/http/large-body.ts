import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { GatewayError } from '../core/errors.js';
import { LARGE_BYTES } from '../lib/json-text.js';
import type { RequestMemory } from './memory-budget.js';
import { notPacked, type Unpacker } from './unpack-body.js';

interface LargeBodyTerms {
  limit_bytes: number;
  stall_ms: number;
  memory: Pick<RequestMemory, 'take'>;
  admit: () => Promise<void>;
  /** The length that the head announces; undefined if it announces none, or the body is packed. */
  announced: number | undefined;
  unpacker?: Unpacker | undefined;
  tooLarge: () => GatewayError;
}

/**
 * Reads a large body, or one of unknown length, such as a packed one. Admits the caller and counts
 * the bytes before they are in memory: at once if the length is announced, else as they come. After
 * a refusal it discards the rest, so that the connection stays usable. Throws `GatewayError`: 400
 * for a body that is cut off or cannot be unpacked, 408 for one that is too slow, 413 past the
 * limit, 503 without memory.
 */
export async function readLargeBody(req: IncomingMessage, terms: LargeBodyTerms): Promise<Buffer> {
  const { announced, memory, admit } = terms;
  if (announced !== undefined) {
    await admit();
    memory.take(announced);
  }
  const reader = new BodyReader(req, terms);
  try {
    return await reader.body;
  } finally {
    reader.end();
  }
}

class BodyReader {
  readonly body: Promise<Buffer>;
  readonly #chunks: Buffer[] = [];
  readonly #timer: NodeJS.Timeout;
  /** The bytes of the body, unpacked. */
  readonly #source: Readable;
  #bytes = 0;
  #packed_bytes = 0;
  /** The number of bytes when the timer last fired. */
  #checked_bytes = 0;
  #isAdmitted: boolean;
  #fail: (error: unknown) => void = () => undefined;

  constructor(
    private readonly req: IncomingMessage,
    private readonly terms: LargeBodyTerms,
  ) {
    this.#isAdmitted = terms.announced !== undefined;
    const { unpacker } = terms;
    const source = unpacker ? req.on('data', this.#onPacked).pipe(unpacker(terms)) : req;
    this.#source = source;
    this.body = new Promise((resolve, reject) => {
      this.#fail = reject;
      source.on('data', this.#onData);
      source.once('end', () => resolve(Buffer.concat(this.#chunks, this.#bytes)));
      if (source !== req) source.on('error', this.#onError);
      req.once('close', this.#onClose);
      if (req.destroyed) this.#onClose();
    });
    this.#timer = setInterval(() => this.#checkSpeed(), terms.stall_ms);
  }

  end(): void {
    const { req } = this;
    const source = this.#source;
    clearInterval(this.#timer);
    source.off('data', this.#onData);
    req.off('data', this.#onPacked).off('close', this.#onClose);
    this.#chunks.length = 0;
    if (source !== req) {
      req.unpipe();
      source.destroy();
    }
    req.resume();
  }

  readonly #onData = (chunk: Buffer): void => {
    const { limit_bytes, announced, memory, tooLarge } = this.terms;
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > limit_bytes) throw tooLarge();
      if (announced === undefined) memory.take(chunk.length);
      this.#chunks.push(chunk);
      if (!this.#isAdmitted && this.#bytes > LARGE_BYTES) this.#admit();
    } catch (error) {
      this.#fail(error);
    }
  };

  /** A packed body has the limit of any other, as it may unpack to nothing. */
  readonly #onPacked = (chunk: Buffer): void => {
    this.#packed_bytes += chunk.length;
    if (this.#packed_bytes > this.terms.limit_bytes) this.#fail(this.terms.tooLarge());
  };

  readonly #onError = (error: unknown): void => {
    this.#fail(error instanceof GatewayError ? error : notPacked(this.req, error));
  };

  readonly #onClose = (): void => {
    // A packed body may have arrived, and be unpacked still.
    if (this.req.readableEnded) return;
    this.#fail(new GatewayError('invalid_request', 'The body did not arrive whole.'));
  };

  /** A body of unknown length is admitted once it is large. */
  #admit(): void {
    this.#isAdmitted = true;
    this.#source.pause();
    this.terms.admit().then(() => void this.#source.resume(), this.#fail);
  }

  /** Refuses a body that is too slow. At the minimum speed the largest one takes some minutes. */
  #checkSpeed(): void {
    const rest_bytes = (this.terms.announced ?? Infinity) - this.#checked_bytes;
    if (this.#bytes - this.#checked_bytes < Math.min(LARGE_BYTES, rest_bytes)) {
      const message = 'The body came too slowly.';
      this.#fail(
        new GatewayError('request_timeout', message, { headers: { connection: 'close' } }),
      );
    }
    this.#checked_bytes = this.#bytes;
  }
}
