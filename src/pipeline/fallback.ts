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
 * Asks the upstreams of the work in turn, best first, until one answers. The only place that tries
 * again: what was sent to one upstream is encoded anew for the next, which may speak another
 * format. Throws `GatewayError` where none answers, `ClientDisconnected` where nobody waits.
 */
async function withFallback(work: Work, sending: Sending): Promise<Answer> {
  const { request_id, client, notes, services } = sending;
  const { log, health } = services;
  let failed: UpstreamError | undefined;
  let told: UpstreamAttempt | undefined;
  for (const upstream of work.upstreams) {
    client.on_disconnect = client.may_retry ? 'drain' : upstream.provider.on_abort;
    const { name } = upstream.provider;
    notes.asked(upstream);
    try {
      const answer = await work.send(upstream, sending);
      notes.ended();
      // A stream has only begun: its delivery counts how it ends.
      if (!('streams' in answer && answer.streams)) health.answered(name);
      return answer;
    } catch (error) {
      notes.failed(error);
      if (client.disconnected) throw new ClientDisconnected();
      if (!(error instanceof UpstreamError)) throw error;
      // Where others fail, the client has nothing to mend: the next time they may serve it.
      if (!failed || error.fault !== 'unsupported') {
        failed = error;
        told = notes.attempts.at(-1);
      }
      health.failed(name, error);
      log.warn({ request_id, provider: name, ...upstreamFault(error) }, 'an upstream failed');
      if (!isRetryable(error)) break;
    }
  }
  if (!failed) throw new Error('The model has no upstream.');
  notes.told(failed, told);
  throw toClientError(failed);
}

/** An operation that sends the work of a modality to its upstreams. */
export interface Spending {
  name: string;
  modality: string;
  /** The format of its request body. */
  format: string;
  gives: Need;
  /** `spends` where the request charges its answer, `hands-over` where a task does it later. */
  money: Money;
}

/** The endpoint at `at` that holds money, spends it on the work of a modality, and settles it. */
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

export function spending({ name, modality, format, gives, money }: Spending): Operation {
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
      return work.abandon ? orAbandon(work, sending) : withFallback(work, sending);
    },
  };
}

/** The same for work that has begun something before any upstream answered. */
async function orAbandon(work: Work, sending: Sending): Promise<Answer> {
  try {
    return await withFallback(work, sending);
  } catch (error) {
    await work.abandon?.(error, sending);
    throw error;
  }
}

/**
 * The order to try upstreams in: as written, but neighbours that carry a weight share the load
 * among themselves in that proportion.
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
