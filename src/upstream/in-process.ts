import type { Dispatcher } from 'undici';
import type { LocalUpstream, WireRequest } from '../core/provider.js';
import type { UpstreamCall } from './upstream-call.js';

/** Sends a call to an upstream inside this process, with the same timeouts and limits. */
export async function dispatchLocally(
  local: LocalUpstream,
  request: WireRequest,
  exchange: UpstreamCall,
): Promise<void> {
  const controller = new LocalController();
  try {
    exchange.onRequestStart(controller);
    const answer = await local.answer(request, local.settings, controller.signal);
    exchange.onResponseStart(controller, answer.status, answer.headers);
    for await (const chunk of answer.body) {
      exchange.onResponseData(controller, Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
      if (controller.paused) await controller.resumed();
      controller.signal.throwIfAborted();
    }
    exchange.onResponseEnd();
  } catch (error) {
    const cause = error instanceof Error ? error : new Error('The local upstream failed.');
    exchange.onResponseError(controller, cause);
  }
}

/** What a socket is to a call over the network: it can be closed, paused and resumed. */
class LocalController implements Dispatcher.DispatchController {
  readonly #abort = new AbortController();
  paused = false;
  reason: Error | null = null;
  #wake: (() => void) | undefined;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  abort(reason: Error): void {
    this.reason = reason;
    this.#abort.abort(reason);
    this.resume();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#wake?.();
  }

  resumed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
