import type { Duplex } from 'node:stream';

/** An in-flight item knows its index in the set, so that the set removes it in one step. */
export interface Indexed {
  /** -1 while the item is not in the set. */
  index: number;
}

/** A request that can be ended with an error for its client. */
export interface InFlightRequest extends Indexed {
  stop(reason: Error): void;
  /** Whether its answer goes out on that socket. */
  isOn(socket: Duplex): boolean;
}

/**
 * All in-flight items. Not a `Set`: V8 links each table that a set has outgrown to the one after
 * it, so that once a dead table is old, every later one is kept until the next full collection, and
 * with them the items that were in flight whenever the set grew.
 */
export class InFlightSet<T extends Indexed> implements Iterable<T> {
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(one: T): void {
    one.index = this.#all.push(one) - 1;
  }

  /** Moves the last item to the free index. Does nothing for an item that is not in the set. */
  delete(one: T): void {
    const { index } = one;
    if (this.#all[index] !== one) return;
    const last = this.#all.pop();
    if (last && last !== one) {
      this.#all[index] = last;
      last.index = index;
    }
    one.index = -1;
  }

  /** Iterates over a copy, so that items may end meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#all].values();
  }
}

/** Is called on an abort; an `AbortSignal` takes the same listener. */
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
