import type { LightAbortSignal } from '../lib/abort.js';
import type { Provider, WireAnswer, WireRequest } from '../core/provider.js';

/** The only way to an upstream. */
export interface Network {
  /**
   * Sends one request, once: no retry, no redirect. Resolves when the head of the answer is here,
   * whatever its status. Rejects with `UpstreamError` (timeout, unreachable, broken); reading the
   * body can reject the same way. Aborting `signal` closes the connection at once, at any moment.
   * A body that is left unread must be cancelled through `signal`, or by ending its iteration.
   */
  send(provider: Provider, request: WireRequest, signal: LightAbortSignal): Promise<WireAnswer>;
  close(): Promise<void>;
}
