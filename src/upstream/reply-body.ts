import { UpstreamError } from '../core/upstream-error.js';
import { inNextTurn } from '../lib/event-loop-turns.js';

/** The source of a body's bytes. */
export interface BodySource {
  /** Sends on after a pause. */
  resume(): void;
  /** The reader has stopped, so the rest of the bytes is not needed. */
  abandon(): void;
}

/** The memory budget of an answer that is read whole. */
export interface ReplyMemory {
  /** Takes bytes from the budget. Throws if it has no room for them. */
  grow(bytes: number): void;
}

/** The upstream is paused when this many bytes wait for the reader. */
const AHEAD_BYTES = 64 * 1024;

/** Reads a packet. If it returns a promise, the next packet waits until that resolves. */
export type PacketHandler = (packet: Buffer) => Promise<void> | undefined;

interface Reader {
  resolve(result: IteratorResult<Buffer, undefined>): void;
  reject(error: unknown): void;
}

/** An answer is larger than its limit. Another call would most likely get the same answer. */
export class ReplyTooLarge extends UpstreamError {
  constructor(limit_bytes: number) {
    super('broken', `The upstream's answer is larger than ${limit_bytes} bytes.`);
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The bytes of an answer, to be read once: packet by packet as an async iterator or by `each`, or
 * all together by `readAll`. The source pauses when `push` returns false, until `resume`.
 */
export class ReplyBody implements AsyncIterableIterator<Buffer, undefined> {
  readonly #source: BodySource;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #limit_bytes = AHEAD_BYTES;
  #max_bytes = AHEAD_BYTES;
  #memory: ReplyMemory | undefined;
  #reader: Reader | undefined;
  #consumer: PacketConsumer | undefined;
  #whole: { resolve(bytes: Buffer): void; reject(error: unknown): void } | undefined;
  #state: 'open' | 'ended' | 'failed' | 'abandoned' = 'open';
  #error: unknown;
  /** Whether the next turn gives the reader the bytes of this one. */
  #isDelivering = false;
  /** Whether the source waits until the bytes of this turn are delivered. */
  #isPaused = false;
  /** One function for all packets saves a closure for each packet. */
  readonly #deliver_now = (): void => this.#deliver();

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Takes a packet. False asks the source to pause until `resume`. */
  push(chunk: Buffer): boolean {
    if (this.#state !== 'open') return true;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#reader || (this.#consumer && !this.#consumer.isBusy)) {
      this.#deliverInNextTurn();
      // A socket may be read many times in a turn, and reading all of that would block others.
      this.#isPaused = this.#bytes > AHEAD_BYTES;
      return !this.#isPaused;
    }
    if (this.#bytes <= this.#limit_bytes) return true;
    if (!this.#whole) return false;
    try {
      this.#widen();
    } catch (error) {
      this.#whole.reject(error);
      this.#abandon();
    }
    return true;
  }

  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ended';
    this.#whole?.resolve(this.#take());
    this.#deliver();
    this.#reader?.resolve(DONE);
    if (this.#consumer) this.#goOn(this.#consumer);
  }

  /**
   * Gives the reader all chunks of this turn as one. Servers often send several chunks in one
   * packet, which the parser hands over one by one, and each write to the client costs time.
   */
  #deliverInNextTurn(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    inNextTurn(this.#deliver_now);
  }

  #deliver(): void {
    this.#isDelivering = false;
    if (this.#chunks.length === 0) return;
    if (this.#consumer) this.#give(this.#consumer);
    else if (this.#reader) {
      const reader = this.#reader;
      this.#reader = undefined;
      reader.resolve({ done: false, value: this.#take() });
    }
    if (!this.#isPaused || this.#consumer?.isBusy) return;
    this.#isPaused = false;
    if (this.#state === 'open') this.#source.resume();
  }

  /** Ends the body with a failure. Packets that came before it are still read first. */
  fail(error: unknown): void {
    if (this.#state !== 'open') return;
    this.#state = 'failed';
    this.#error = error;
    this.#whole?.reject(error);
    this.#deliver();
    if (this.#reader) {
      this.#state = 'ended';
      this.#reader.reject(error);
    }
    if (this.#consumer) this.#goOn(this.#consumer);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.#chunks.length > 0) {
      const value = this.#take();
      if (this.#state === 'open') this.#source.resume();
      return Promise.resolve({ done: false, value });
    }
    if (this.#state === 'failed') return this.#fail();
    if (this.#state !== 'open') return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  /** Ends the reading early. */
  return(): Promise<IteratorReturnResult<undefined>> {
    if (this.#state === 'open') this.#abandon();
    this.#chunks = [];
    return Promise.resolve(DONE);
  }

  /** The whole body, without the cost of iterating. Rejects with `UpstreamError` past the limit. */
  readAll(limit_bytes: number, memory?: ReplyMemory): Promise<Buffer> {
    if (this.#bytes > limit_bytes) {
      void this.return();
      return Promise.reject(new ReplyTooLarge(limit_bytes));
    }
    if (this.#state === 'failed') return this.#fail();
    if (this.#state !== 'open') return Promise.resolve(this.#take());
    this.#max_bytes = limit_bytes;
    this.#memory = memory;
    if (!memory) this.#limit_bytes = limit_bytes;
    return new Promise((resolve, reject) => {
      this.#whole = { resolve, reject };
      this.#source.resume();
    });
  }

  /** Doubles the limit. Throws if memory has no room, or if the answer is too large. */
  #widen(): void {
    const [bytes, max] = [this.#bytes, this.#max_bytes];
    if (bytes > max) throw new ReplyTooLarge(max);
    const wider = Math.min(max, 2 * bytes);
    this.#memory?.grow(wider - this.#limit_bytes);
    this.#limit_bytes = wider;
  }

  /**
   * Calls `take` with the packets of each turn in the turn after it. A promise for each packet
   * would cost more than reading it. Resolves at the end of the body, or when the reader stops.
   */
  each(take: PacketHandler): Promise<void> {
    return new Promise((resolve, reject) => {
      const body = { goOn: () => this.#goOn(consumer), stop: () => void this.return() };
      const consumer = new PacketConsumer(take, body, resolve, reject);
      this.#consumer = consumer;
      this.#goOn(consumer);
    });
  }

  /** Gives the reader the packets that came while it was busy, then reports the end, if any. */
  #goOn(consumer: PacketConsumer): void {
    this.#give(consumer);
    if (consumer.isBusy) return;
    if (this.#state === 'open') this.#source.resume();
    else if (this.#state === 'failed') consumer.reject(this.#error);
    else consumer.resolve();
  }

  #give(consumer: PacketConsumer): void {
    while (!consumer.isBusy && this.#chunks.length > 0) consumer.give(this.#take());
  }

  #take(): Buffer {
    const [chunks, bytes] = [this.#chunks, this.#bytes];
    const [first] = chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return first && chunks.length === 1 ? first : Buffer.concat(chunks, bytes);
  }

  #abandon(): void {
    this.#state = 'abandoned';
    this.#chunks = [];
    this.#consumer?.resolve();
    this.#source.abandon();
  }

  /** Reports the failure once. A reader that asks again is at the end. */
  #fail(): Promise<never> {
    this.#state = 'ended';
    return Promise.reject(this.#error);
  }
}

/** The side of the body that a packet consumer uses. */
interface PacketSource {
  /** Asks for the next packets. */
  goOn(): void;
  /** Ends the reading after a failure of the reader. */
  stop(): void;
}

/** Calls the reader of `ReplyBody.each` with packets, and reports the end of the body to it. */
class PacketConsumer {
  /** Whether the reader's promise for its last packet is pending. */
  isBusy = false;
  readonly #take: PacketHandler;
  readonly #body: PacketSource;

  constructor(
    take: PacketHandler,
    body: PacketSource,
    readonly resolve: () => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.#take = take;
    this.#body = body;
  }

  give(packet: Buffer): void {
    try {
      const wait = this.#take(packet);
      if (wait) this.#await(wait);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #await(wait: Promise<void>): void {
    this.isBusy = true;
    wait.then(
      () => {
        this.isBusy = false;
        this.#body.goOn();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  #giveUp(error: unknown): void {
    this.reject(error);
    this.#body.stop();
  }
}
