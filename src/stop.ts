/** Hears of a stop; the same listener that an `AbortSignal` takes. */
export interface StopListener {
  handleEvent(): void;
}

/**
 * What a call watches to know that it must end. Every `AbortSignal` is one; a `Stop` is the same
 * thing at a tenth of the cost, and each request makes one.
 */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: StopListener): void;
  removeEventListener(type: 'abort', listener: StopListener): void;
}

/** A signal, and the means to give it. Only the first reason counts. */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<StopListener>();

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener.handleEvent();
    this.#listeners.clear();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: StopListener): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: StopListener): void {
    this.#listeners.delete(listener);
  }
}
