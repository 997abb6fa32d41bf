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
