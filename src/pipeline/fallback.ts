import type { Upstream } from '../core/model.js';
import { UpstreamError } from '../core/upstream-error.js';
import { ClientDisconnected } from '../http/client-connection.js';
import { upstreamFault } from '../telemetry/plain-error.js';
import { isRetryable, toClientError } from '../upstream/to-client-error.js';
import { RequestNotes } from './request-notes.js';
import type { UpstreamAttempt } from '../core/request-record.js';
import type { Answer, Sending, Work } from './work.js';
import type { DefaultEndpoint, Operation } from './modality.js';
import { fact, type Money, type Need } from './stage.js';

/**
 * Calls the upstreams of the work one after another, best first, until one answers. This is the
 * only place that retries: each upstream may speak another format, so the call is encoded anew.
 * Throws `GatewayError` if none answers, `ClientDisconnected` if the client has disconnected.
 */
async function withFallback(work: Work, sending: Sending): Promise<Answer> {
  const { request_id, client, notes, services } = sending;
  const { log, health } = services;
  let failed: UpstreamError | undefined;
  let reported: UpstreamAttempt | undefined;
  for (const upstream of work.upstreams) {
    client.on_disconnect = client.may_retry ? 'drain' : upstream.provider.on_abort;
    const { name } = upstream.provider;
    notes.attemptStarted(upstream);
    try {
      const answer = await work.send(upstream, sending);
      notes.attemptEnded();
      // A stream has only begun: its delivery reports to `health` how it ends.
      if (!('streams' in answer && answer.streams)) health.answered(name);
      return answer;
    } catch (error) {
      notes.attemptFailed(error);
      if (client.disconnected) throw new ClientDisconnected();
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

/** An operation that sends the work of a modality to its upstreams. */
export interface SpendingOptions {
  name: string;
  modality: string;
  /** The format of its request body. */
  format: string;
  gives: Need;
  /** `spends` if the request charges its answer, `hands-over` if a task charges it later. */
  money: Money;
}

/**
 * An endpoint at `at` (method and path) that holds money, calls the modality and charges the
 * answer.
 */
export function spendingEndpoint(
  name: string,
  at: string,
  { modality, format }: { modality: string; format: string },
): DefaultEndpoint {
  const stages = [
    'auth',
    { validate: format },
    { route: { capability: modality } },
    'balance',
    { transform: modality },
    'meter',
  ];
  return { name, at, stages };
}

export function spendingOperation({
  name,
  modality,
  format,
  gives,
  money,
}: SpendingOptions): Operation {
  return {
    name,
    format,
    shape: { needs: ['caller', 'model', `work:${modality}`], gives: [gives], money },
    run: (state, client, services) => {
      const { request_id, endpoint } = state;
      const caller = fact(state, 'caller');
      const hold = fact(state, 'hold');
      const notes = state.notes ?? new RequestNotes();
      const sending = { request_id, endpoint, caller, hold, client, notes, services };
      const work = fact(state, 'work');
      return work.abandon ? withFallbackOrAbandon(work, sending) : withFallback(work, sending);
    },
  };
}

/** Like `withFallback`. If it fails, undoes what the work began before an upstream answered. */
async function withFallbackOrAbandon(work: Work, sending: Sending): Promise<Answer> {
  try {
    return await withFallback(work, sending);
  } catch (error) {
    await work.abandon?.(error, sending);
    throw error;
  }
}

/**
 * Returns the order in which upstreams are tried: the order of the file, except that neighbours
 * with a `weight` share the load in proportion to it.
 */
export function inOrder(upstreams: readonly Upstream[], random: () => number): readonly Upstream[] {
  if (upstreams.length === 1) return upstreams;
  const ordered: Upstream[] = [];
  for (let from = 0; from < upstreams.length;) {
    let to = from + 1;
    if (upstreams[from]?.weight !== undefined) {
      while (upstreams[to]?.weight !== undefined) to += 1;
    }
    ordered.push(...byWeight(upstreams.slice(from, to), random));
    from = to;
  }
  return ordered;
}

function byWeight(group: Upstream[], random: () => number): Upstream[] {
  const drawn: Upstream[] = [];
  while (group.length > 1) {
    let rest = random() * group.reduce((sum, { weight }) => sum + (weight ?? 1), 0);
    const at = group.findIndex(({ weight }) => (rest -= weight ?? 1) < 0);
    drawn.push(...group.splice(Math.max(at, 0), 1));
  }
  return [...drawn, ...group];
}
