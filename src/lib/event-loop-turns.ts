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
