import type { Duplex } from 'node:stream';

/** An in-flight item knows its index in the set, so that the set removes it in one step. */
export interface Indexed {
  /** -1 while the item is not in the set. */
  index: number;
}

/** A request that can be ended with an error for its client. */
export interface InFlightRequest extends Indexed {
  stop(reason: Error): void;
  /** Whether its answer is sent on this socket. */
  isOn(socket: Duplex): boolean;
}

/**
 * All in-flight items. It is not a `Set`: V8 links each table that a set has outgrown to the next
 * one. Once such a table is in the old generation, it keeps all later tables and their items alive
 * until the next full garbage collection.
 */
export class InFlightSet<T extends Indexed> implements Iterable<T> {
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(item: T): void {
    item.index = this.#all.push(item) - 1;
  }

  /** Moves the last item to the free index. Does nothing for an item that is not in the set. */
  delete(item: T): void {
    const { index } = item;
    if (this.#all[index] !== item) return;
    const last = this.#all.pop();
    if (last && last !== item) {
      this.#all[index] = last;
      last.index = index;
    }
    item.index = -1;
  }

  /** Iterates over a copy, since items may be deleted meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#all].values();
  }
}

/** A listener for an abort. An `AbortSignal` takes it too. */
export interface AbortListener {
  handleEvent(): void;
}

/**
 * The part of an `AbortSignal` that a call uses to learn that it must end. A `LightAbortController`
 * costs a tenth of an `AbortController`, and each request makes one.
 */
export interface LightAbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** A signal and its controller in one. Only the first reason counts. */
export class LightAbortController implements LightAbortSignal {
  aborted = false;
  reason: unknown;
  #listeners: AbortListener[] = [];

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener.handleEvent();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: AbortListener): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }
}

/** A smaller difference may come from the way to the other clock and back. */
const MIN_DIFFERENCE_MS = 1_000;

/**
 * The time of a clock that several machines share, such as the database's. Between two looks at
 * it, the time goes on by the monotonic clock of this process, so that setting the clock of this
 * machine changes nothing.
 */
export class SharedClock {
  #base_ms: number;

  /** `own_ms` counts until the first look. */
  constructor(
    own_ms: number,
    private readonly elapsed_ms = () => performance.now(),
  ) {
    this.#base_ms = own_ms - elapsed_ms();
  }

  readonly now = (): number => Math.round(this.#base_ms + this.elapsed_ms());

  /** Looks at the other clock, and takes its time if it differs. Rejects as `read` does. */
  async look(read: () => Promise<number>): Promise<void> {
    const before_ms = this.elapsed_ms();
    const shared_ms = await read();
    const base_ms = shared_ms - (before_ms + this.elapsed_ms()) / 2;
    if (Math.abs(base_ms - this.#base_ms) >= MIN_DIFFERENCE_MS) this.#base_ms = base_ms;
  }
}

let waiting: (() => void)[] = [];

/**
 * Calls a function in the next turn of the event loop, together with all that were given in this
 * one. Work that arrives together then takes each step one after another, and finds the code of the
 * step in the processor's caches, which takes a twentieth off a call under load. The function must
 * not throw: those after it would not be called.
 */
export function inNextTurn(run: () => void): void {
  if (waiting.push(run) === 1) setImmediate(runAll);
}

function runAll(): void {
  const all = waiting;
  waiting = [];
  for (const run of all) run();
}

/** A new connection needs so many turns of the event loop until its request is answered. */
const TURNS_OF_OTHERS = 3;

/**
 * Gives the long work of each request its own turn of the event loop, one after another, with turns
 * for all others between. Together they delay other requests no longer than one of them does.
 */
export class EventLoopTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves after the turns of all earlier calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#callNext();
    });
  }

  #callNext(turns = TURNS_OF_OTHERS): void {
    setImmediate(() => {
      if (turns > 0) return this.#callNext(turns - 1);
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#callNext();
    });
  }
}

/** The turns of all long work of this process, which has one event loop. */
export const longWorkTurns = new EventLoopTurns();

/** Waits for `work`, but no longer than `ms`: then the result is undefined. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
