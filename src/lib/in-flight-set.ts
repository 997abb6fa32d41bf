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
