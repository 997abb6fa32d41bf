/** Hears of a stop; the same listener that an `AbortSignal` takes. */
export interface AbortListener {
  handleEvent(): void;
}

/**
 * What a call watches to know that it must end. Every `AbortSignal` is one; a `Stop` is the same
 * thing at a tenth of the cost, and each request makes one.
 */
export interface LightAbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** A signal, and the means to give it. Only the first reason counts. */
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
