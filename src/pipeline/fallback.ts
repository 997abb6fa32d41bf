import { UpstreamError } from '../core/upstream-error.js';
import { ClientDisconnected } from '../core/errors.js';
import { upstreamFault } from '../telemetry/plain-error.js';
import { isRetryable, toClientError } from '../upstream/to-client-error.js';
import type { UpstreamAttempt } from '../core/request-record.js';
import type { Upstream } from '../core/model.js';
import type { Answer, PaidAnswer, SendContext, Work } from './work.js';

/** The answer of the first upstream that gives one. Throws as `askEach` does. */
export function withFallback(work: Work, context: SendContext): Promise<Answer> {
  return work.abandon ? askOrAbandon(work, context) : askEach(work, context);
}

/**
 * Calls the upstreams of the work one after another, best first, until one answers. This is the
 * only place that retries: each upstream may speak another format, so the call is encoded anew.
 * Throws `GatewayError` if none answers, `ClientDisconnected` if the client has disconnected and
 * owes nothing.
 */
async function askEach(work: Work, context: SendContext): Promise<Answer> {
  const { request_id, client, notes, services } = context;
  const { log, health } = services;
  let failed: UpstreamError | undefined;
  let reported: UpstreamAttempt | undefined;
  for (const upstream of work.upstreams) {
    client.on_disconnect = client.may_retry ? 'drain' : upstream.provider.on_abort;
    const { name } = upstream.provider;
    notes.attemptStarted(upstream);
    try {
      const answer = await work.send(upstream, context);
      notes.attemptEnded();
      // A stream has only begun: its delivery reports to `health` how it ends.
      if (!('streams' in answer && answer.streams)) health.answered(name);
      return answer;
    } catch (error) {
      notes.attemptFailed(error);
      if (client.disconnected) return unanswered(work, upstream, context, error);
      if (!(error instanceof UpstreamError)) throw error;
      // `unsupported` is reported only if every upstream failed by it: the client could do nothing
      // about the others, which may serve the same request later.
      if (!failed || error.fault !== 'unsupported') {
        failed = error;
        reported = notes.attempts.at(-1);
      }
      health.failed(name, error);
      log.warn({ request_id, provider: name, ...upstreamFault(error) }, 'an upstream failed');
      if (!isRetryable(error)) break;
    }
  }
  if (!failed) throw new Error('The model has no upstream.');
  notes.reportedToClient(failed, reported);
  throw toClientError(failed);
}

/**
 * What a client that has disconnected before its answer pays: something only if the time to drain
 * is over, the upstream bills on, and the request was sent to it. A client that may repeat the call
 * pays for its answer. Throws `ClientDisconnected` if it pays nothing.
 */
function unanswered(
  work: Work,
  upstream: Upstream,
  context: SendContext,
  error: unknown,
): PaidAnswer {
  const { client } = context;
  const { name, on_abort } = upstream.provider;
  const isSent = !(error instanceof ClientDisconnected && error.before_sent);
  const isDrained = on_abort === 'drain' && client.signal.aborted && !client.may_retry;
  if (!isSent || !isDrained || !work.unansweredBill) throw new ClientDisconnected();
  const billOf = work.unansweredBill.bind(work);
  return {
    provider: name,
    streams: false,
    deliver: async (settle) => settle(await billOf(upstream, context)),
    body: () => undefined,
  };
}

/** Like `askEach`. If it fails, undoes what the work began before an upstream answered. */
async function askOrAbandon(work: Work, context: SendContext): Promise<Answer> {
  try {
    return await askEach(work, context);
  } catch (error) {
    await work.abandon?.(error, context);
    throw error;
  }
}
