import type { LightAbortSignal } from '../lib/light-abort.js';
import type { Provider, WireReply, WireRequest } from '../core/provider.js';

/** Sends requests to upstreams. */
export interface Network {
  /**
   * Sends one request, once: no retry, no redirect. Resolves with any status, when the head of the
   * answer has arrived. Rejects with `UpstreamError` (timeout, unreachable, busy, broken); reading
   * the body can reject the same way. Aborting `signal` closes the connection at once, at any
   * moment. A body that is left unread must be cancelled through `signal`, or by ending its
   * iteration.
   */
  send(provider: Provider, request: WireRequest, signal: LightAbortSignal): Promise<WireReply>;
  close(): Promise<void>;
}
