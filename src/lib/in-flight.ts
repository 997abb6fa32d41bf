import type { Duplex } from 'node:stream';

/** What is under way knows its place among the others, so that it is found at once. */
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
 * All that is under way. Not a `Set`: V8 links each table that a set has outgrown to the one after
 * it, so that once a dead table is old, every later one is kept until the next full collection, and
 * with them whatever was under way whenever the set grew.
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
