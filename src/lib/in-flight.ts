import type { Duplex } from 'node:stream';

/** What is under way knows its place among the others, so that it is found at once. */
export interface Placed {
  /** -1 while it is not among them. */
  place: number;
}

/** A request that can be ended, with an error that its client is told. */
export interface Call extends Placed {
  stop(reason: Error): void;
  /** Whether its answer goes out on that socket. */
  isOn(socket: Duplex): boolean;
}

/**
 * All that is under way. Not a `Set`: V8 links each table that a set has outgrown to the one after
 * it, so that once a dead table is old, every later one is kept until the next full collection, and
 * with them whatever was under way whenever the set grew.
 */
export class UnderWay<T extends Placed> implements Iterable<T> {
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(one: T): void {
    one.place = this.#all.push(one) - 1;
  }

  /** The last one takes its place. Nothing happens where it is not among them. */
  delete(one: T): void {
    const { place } = one;
    if (this.#all[place] !== one) return;
    const last = this.#all.pop();
    if (last && last !== one) {
      this.#all[place] = last;
      last.place = place;
    }
    one.place = -1;
  }

  /** Those of now, whatever ends meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#all].values();
  }
}
