import type { Upstream } from '../core/model.js';
import { UpstreamError } from '../core/upstream-error.js';
import { ClientDisconnected, type ClientConnection } from '../http/client-connection.js';
import { isRetryable, toClientError } from '../upstream/to-client-error.js';
import type { Services } from './services.js';
import type { Answer } from './work.js';

/** The requests of one client to the upstreams that may serve it, best first. */
export interface Attempts {
  request_id: string;
  upstreams: readonly Upstream[];
  client: ClientConnection;
}

/**
 * Asks the upstreams in turn until one answers. The only place that tries again: what was sent to
 * one upstream is encoded anew for the next, which may speak another format. Throws `GatewayError`
 * where none answers, `ClientDisconnected` where nobody waits any more.
 */
export async function withFallback(
  { request_id, upstreams, client }: Attempts,
  { log, health }: Services,
  ask: (upstream: Upstream) => Promise<Answer>,
): Promise<Answer> {
  let failed: UpstreamError | undefined;
  for (const upstream of upstreams) {
    client.on_disconnect = client.may_retry ? 'drain' : upstream.provider.on_abort;
    const { name } = upstream.provider;
    try {
      const answer = await ask(upstream);
      // A stream has only begun: its delivery counts how it ends.
      if (!('streams' in answer && answer.streams)) health.answered(name);
      return answer;
    } catch (error) {
      if (client.disconnected) throw new ClientDisconnected();
      if (!(error instanceof UpstreamError)) throw error;
      failed = error;
      health.failed(name, error);
      log.warn(
        { request_id, provider: name, fault: error.fault, err: error },
        'an upstream failed',
      );
      if (!isRetryable(error)) break;
    }
  }
  if (!failed) throw new Error('The model has no upstream.');
  throw toClientError(failed);
}
