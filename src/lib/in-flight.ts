import type { Duplex } from 'node:stream';

/** An in-flight item knows its index in the set, so that the set removes it in one step. */
export interface Indexed {
  /** -1 while it is not among them. */
  index: number;
}

/** A request that can be ended, with an error that its client is told. */
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

  /** The last one takes its place. Nothing happens where it is not among them. */
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

  /** Those of now, whatever ends meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#all].values();
  }
}
