import { UpstreamError } from '../core/upstream-error.js';

/** Where a body's bytes come from: asked to go on after a pause, or told that no one reads on. */
export interface BodySource {
  resume(): void;
  leave(): void;
}

/** Counts what an answer weighs that is held whole. Throws where it has no room. */
export interface AnswerRoom {
  grow(bytes: number): void;
}

/** A reader this far behind pauses its upstream; two sockets' worth of reading ahead. */
const AHEAD_BYTES = 64 * 1024;

/** Reads a packet. Where it returns a promise, the next packet waits until that resolves. */
export type Taker = (packet: Buffer) => Promise<void> | undefined;

interface Reader {
  resolve(result: IteratorResult<Buffer, undefined>): void;
  reject(error: unknown): void;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * An answer's bytes, to be read once: packet by packet as an async iterator or by `each`, or all at
 * once by `readAll`. Whoever fills it pauses while `push` answers false.
 */
export class AnswerBody implements AsyncIterableIterator<Buffer, undefined> {
  readonly #source: BodySource;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #limit_bytes = AHEAD_BYTES;
  #most_bytes = AHEAD_BYTES;
  #room: AnswerRoom | undefined;
  #reader: Reader | undefined;
  #taking: PacketConsumer | undefined;
  #whole: { resolve(bytes: Buffer): void; reject(error: unknown): void } | undefined;
  #state: 'open' | 'ended' | 'failed' | 'left' = 'open';
  #error: unknown;
  /** A microtask is queued that gives the reader the bytes of this turn. */
  #isGiving = false;
  /** One function for all packets, so that a packet makes no closure. */
  readonly #give_now = (): void => this.#giveNow();

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Takes a packet; false asks the source to pause until `resume`. */
  push(chunk: Buffer): boolean {
    if (this.#state !== 'open') return true;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#reader || (this.#taking && !this.#taking.isBusy)) {
      this.#giveAfterTurn();
      return true;
    }
    if (this.#bytes <= this.#limit_bytes) return true;
    if (!this.#whole) return false;
    try {
      this.#widen();
    } catch (error) {
      this.#whole.reject(error);
      this.#leave();
    }
    return true;
  }

  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ended';
    this.#whole?.resolve(this.#take());
    this.#giveNow();
    this.#reader?.resolve(DONE);
    if (this.#taking) this.#goOn(this.#taking);
  }

  /**
   * Servers often send several chunks in one packet, and the parser hands them over one by one, in
   * one turn. They go to the reader as one, since each write to the client costs.
   */
  #giveAfterTurn(): void {
    if (this.#isGiving) return;
    this.#isGiving = true;
    queueMicrotask(this.#give_now);
  }

  #giveNow(): void {
    this.#isGiving = false;
    if (this.#chunks.length === 0) return;
    if (this.#taking) this.#give(this.#taking);
    else if (this.#reader) {
      const reader = this.#reader;
      this.#reader = undefined;
      reader.resolve({ done: false, value: this.#take() });
    }
  }

  /** Packets that came before the failure are still read first. */
  fail(error: unknown): void {
    if (this.#state !== 'open') return;
    this.#state = 'failed';
    this.#error = error;
    this.#whole?.reject(error);
    this.#giveNow();
    if (this.#reader) {
      this.#state = 'ended';
      this.#reader.reject(error);
    }
    if (this.#taking) this.#goOn(this.#taking);
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
    if (this.#state === 'open') this.#leave();
    this.#chunks = [];
    return Promise.resolve(DONE);
  }

  /** The whole body, without the cost of iterating. Rejects with `UpstreamError` past the limit. */
  readAll(limit_bytes: number, room?: AnswerRoom): Promise<Buffer> {
    if (this.#bytes > limit_bytes) {
      void this.return();
      return Promise.reject(tooLarge(limit_bytes));
    }
    if (this.#state === 'failed') return this.#fail();
    if (this.#state !== 'open') return Promise.resolve(this.#take());
    this.#most_bytes = limit_bytes;
    this.#room = room;
    if (!room) this.#limit_bytes = limit_bytes;
    return new Promise((resolve, reject) => {
      this.#whole = { resolve, reject };
      this.#source.resume();
    });
  }

  /** Counts room for as much again. Throws where there is none, or the answer is too large. */
  #widen(): void {
    const [bytes, most] = [this.#bytes, this.#most_bytes];
    if (bytes > most) throw tooLarge(most);
    const wider = Math.min(most, 2 * bytes);
    this.#room?.grow(wider - this.#limit_bytes);
    this.#limit_bytes = wider;
  }

  /**
   * Gives each packet in the turn in which it comes: between a packet and its reader no promise
   * stands, which costs more than reading it. Resolves at the end, or when the reader has left.
   */
  each(take: Taker): Promise<void> {
    return new Promise((resolve, reject) => {
      const body = { goOn: () => this.#goOn(taking), leave: () => void this.return() };
      const taking = new PacketConsumer(take, body, resolve, reject);
      this.#taking = taking;
      this.#goOn(taking);
    });
  }

  /** What has come while the reader was busy, then what there is to say of the end. */
  #goOn(taking: PacketConsumer): void {
    this.#give(taking);
    if (taking.isBusy) return;
    if (this.#state === 'open') this.#source.resume();
    else if (this.#state === 'failed') taking.reject(this.#error);
    else taking.resolve();
  }

  #give(taking: PacketConsumer): void {
    while (!taking.isBusy && this.#chunks.length > 0) taking.give(this.#take());
  }

  #take(): Buffer {
    const [chunks, bytes] = [this.#chunks, this.#bytes];
    const [first] = chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return first && chunks.length === 1 ? first : Buffer.concat(chunks, bytes);
  }

  #leave(): void {
    this.#state = 'left';
    this.#chunks = [];
    this.#taking?.resolve();
    this.#source.leave();
  }

  /** The failure is told once; a reader that asks again is at the end. */
  #fail(): Promise<never> {
    this.#state = 'ended';
    return Promise.reject(this.#error);
  }
}

function tooLarge(limit_bytes: number): UpstreamError {
  return new UpstreamError('broken', `The upstream's answer is larger than ${limit_bytes} bytes.`);
}

/** What a packet consumer asks of its body: the next packets, or none after a fault of its own. */
interface PacketSource {
  goOn(): void;
  leave(): void;
}

/** The reader that `AnswerBody.each` serves, and how the body reports its end to it. */
class PacketConsumer {
  /** The reader's promise for its last packet is still pending. */
  isBusy = false;
  readonly #take: Taker;
  readonly #body: PacketSource;

  constructor(
    take: Taker,
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
    this.#body.leave();
  }
}
