/**
 * Lets the long work of many requests go on one after another, each time in a turn of the event
 * loop of its own: together they keep others waiting no longer than one of them does.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when all who asked before have had their turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#callNext();
    });
  }

  #callNext(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#callNext();
    });
  }
}
