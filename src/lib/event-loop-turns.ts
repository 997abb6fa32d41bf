/**
 * Gives the long work of each request its own turn of the event loop, one after another. Together
 * they delay other requests no longer than one of them does.
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

  #callNext(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#callNext();
    });
  }
}
