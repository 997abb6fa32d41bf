import { shares } from '../../lib/shares.js';
import type { TaskJob } from '../../store/tasks/task-types.js';
import type { WireRequest } from '../../core/provider.js';
import { requestJson } from '../../upstream/upstream-request.js';
import type { Network } from '../../upstream/network-types.js';
import { videoOperation, type VideoCall } from './codec.js';
import type { LightAbortSignal } from '../../lib/light-abort.js';
import type { JsonObject } from '../../core/json.js';
import type { VideoRequest } from '../../core/task.js';
import { onceTakenUp, UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';

/** The error of a task if the upstream may or may not have begun it. */
export const UNCERTAIN_SUBMIT =
  'The gateway stopped while submitting; the upstream may have taken the task.';

export interface SubmitLimits {
  answer_bytes: number;
  event_bytes: number;
}

/**
 * Submits a call to one upstream, as many concurrent jobs as the count of videos needs. A job that
 * the upstream refuses is FAILED from the start. If it refuses all, throws the first error.
 */
export async function submitJobs(
  call: VideoCall,
  upstream: Upstream,
  network: Network,
  limits: SubmitLimits,
  signal: LightAbortSignal,
): Promise<TaskJob[]> {
  const counts = shares(call.sample_count, videoOperation(upstream.provider).max);
  const outcomes = await Promise.allSettled(
    counts.map((sample_count) => {
      const job = submitJob({ ...call, sample_count }, upstream, network, limits, signal);
      return counts.length > 1 ? onceTakenUp(job) : job;
    }),
  );
  const [first] = outcomes;
  if (first?.status === 'rejected' && outcomes.every(({ status }) => status === 'rejected')) {
    throw first.reason;
  }
  return outcomes.map((outcome, i) => {
    const count = counts[i] ?? 0;
    if (outcome.status === 'fulfilled') return { count, status: 'IN_QUEUE', state: outcome.value };
    const { reason } = outcome as { reason: unknown };
    const error = reason instanceof UpstreamError ? reason.message : UNCERTAIN_SUBMIT;
    return { count, status: 'FAILED', state: {}, error };
  });
}

/** Converts a request of a codec to a wire request. */
export function wireOf({ method, path, headers, body, credentials }: VideoRequest): WireRequest {
  return {
    method,
    path,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials,
  };
}

async function submitJob(
  call: VideoCall,
  upstream: Upstream,
  network: Network,
  limits: SubmitLimits,
  signal: LightAbortSignal,
): Promise<JsonObject> {
  const { provider } = upstream;
  const { codec } = videoOperation(upstream.provider);
  const wire = wireOf(codec.submit(call, upstream));
  const body = await requestJson(network, provider, wire, limits.answer_bytes, { signal });
  return codec.submitted(body, call, upstream);
}
