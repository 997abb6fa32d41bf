import type { Upstream } from '../core/model.js';
import { UpstreamError } from '../core/upstream-error.js';
import { toClientError } from '../upstream/to-client-error.js';

/**
 * Refuses a request that no upstream of its model takes, before anything is read of its media.
 * `encode` throws for such an upstream, as it will when the request is sent. Throws `GatewayError`.
 */
export function refuseUnsupported(
  upstreams: readonly Upstream[],
  encode: (upstream: Upstream) => unknown,
): void {
  let refusal: UpstreamError | undefined;
  for (const upstream of upstreams) {
    try {
      encode(upstream);
      return;
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.fault !== 'unsupported') return;
      refusal ??= error;
    }
  }
  if (refusal) throw toClientError(refusal);
}
