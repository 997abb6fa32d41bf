import type { Dispatcher } from 'undici';
import type { LocalUpstream, WireRequest } from '../core/provider.js';
import type { UpstreamCall } from './upstream-call.js';

/** Sends a call to an upstream inside this process. Timeouts and limits are those of any call. */
export async function dispatchLocally(
  local: LocalUpstream,
  request: WireRequest,
  call: UpstreamCall,
): Promise<void> {
  const controller = new LocalController();
  try {
    call.onRequestStart(controller);
    const answer = await local.answer(request, local.settings, controller.signal);
    call.onResponseStart(controller, answer.status, answer.headers);
    for await (const chunk of answer.body) {
      call.onResponseData(controller, Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
      if (controller.paused) await controller.resumed();
      controller.signal.throwIfAborted();
    }
    call.onResponseEnd();
  } catch (error) {
    const cause = error instanceof Error ? error : new Error('The local upstream failed.');
    call.onResponseError(controller, cause);
  }
}

/** Stands for the socket of a call: the call can close, pause and resume it. */
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
