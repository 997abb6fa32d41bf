import { ClientGone, type Client } from '../http/client-connection.js';
import { fact, type Context, type Services } from './stage.js';
import { mayFallBack, refusal } from '../upstream/to-client-error.js';
import { UpstreamError } from '../core/upstream-error.js';
import type { Upstream } from '../core/model.js';

/**
 * Asks the upstreams in turn until one answers. The only place that tries again: what was sent to
 * one upstream is encoded anew for the next, which may speak another format. Throws `GatewayError`
 * where none answers, `ClientGone` where nobody waits any more.
 */
export async function firstAnswer<T>(
  ctx: Context,
  client: Client,
  { log, outcomes }: Services,
  ask: (upstream: Upstream) => Promise<T>,
): Promise<T> {
  let failed: UpstreamError | undefined;
  for (const upstream of fact(ctx, 'upstreams')) {
    client.on_leave = client.returns ? 'drain' : upstream.provider.on_abort;
    try {
      const answer = await ask(upstream);
      if (!isUnderWay(answer)) outcomes.answered(upstream.provider.name);
      return answer;
    } catch (error) {
      if (client.gone) throw new ClientGone();
      if (!(error instanceof UpstreamError)) throw error;
      failed = error;
      const { request_id } = ctx.state;
      const { name } = upstream.provider;
      outcomes.failed(name, error);
      log.warn(
        { request_id, provider: name, fault: error.fault, err: error },
        'an upstream failed',
      );
      if (!mayFallBack(error)) break;
    }
  }
  if (!failed) throw new Error('The model has no upstream.');
  throw refusal(failed);
}

/** A stream has only begun: whoever carries it counts how it ends. */
function isUnderWay(answer: unknown): boolean {
  return (answer as { kind?: unknown } | undefined)?.kind === 'chat-stream';
}
