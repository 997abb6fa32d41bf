import { fact, type State } from '../../pipeline/stage.js';
import type { Actor } from '../../core/actor.js';
import { GatewayError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Upstream } from '../../core/model.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { VideoRequest } from '../../core/task.js';
import type { Services } from '../../pipeline/services.js';
import type { Answer, RoutedTask } from '../../pipeline/work.js';
import type { Task, TaskJob } from '../../store/tasks/task-types.js';
import { classifyError } from '../../upstream/classify-error.js';
import { videoOperation } from './codec.js';
import { missingUpstream, poll, upstreamOf } from './poll.js';
import { isTransient } from './poll-job.js';
import { wireOf } from './submit-jobs.js';

/** The error of a cancelled task. */
const CANCELLED = 'The task was cancelled.';

/**
 * Cancels a task that its upstream has not begun, with the answers of fal's queue. The task becomes
 * FAILED, and its hold ends, only if the upstream has dropped all of its jobs: otherwise the
 * gateway would pay for videos that it cannot charge. Throws `GatewayError` (502) if the request to
 * the upstream fails.
 */
export async function cancel(
  { task: routed }: RoutedTask,
  services: Services,
  by: Actor,
): Promise<Answer> {
  const { task } = await poll(routed, services);
  if (!(await dropAll(task, services, by))) return tooLate(task);
  return { status: 202, body: () => ({ status: 'CANCELLATION_REQUESTED' }) };
}

/**
 * Drops the queued jobs of a task, and fails the task. False if the upstream has begun the task or
 * keeps a job. Throws `GatewayError` (502) if the request to the upstream fails.
 */
export async function dropAll(task: Task, services: Services, by: Actor): Promise<boolean> {
  if (task.status !== 'IN_QUEUE') return false;
  const upstream = upstreamOf(task, services);
  if (!upstream) throw unreachable(missingUpstream());
  const { store, now, configuration } = services;
  const jobs = task.jobs.filter(({ status }) => status === 'IN_QUEUE');
  const dropped = await Promise.allSettled(jobs.map((job) => drop(job, upstream, services)));
  const isDropped = dropped.map((one) => one.status === 'fulfilled' && one.value);
  if (isDropped.every(Boolean)) {
    // Meanwhile another request may have ended it.
    return store.tasks.cancel(task.id, CANCELLED, now() + configuration.limits.task_ms, by);
  }
  const lost = new Set(jobs.filter((_job, i) => isDropped[i]));
  if (lost.size > 0) await continueWithout(lost, task, services);
  const fault = dropped.find((one) => one.status === 'rejected');
  if (fault) throw unreachable(fault.reason);
  return false;
}

/** Continues a task with the jobs that the upstream keeps. The dropped ones are not polled. */
async function continueWithout(
  lost: ReadonlySet<TaskJob>,
  task: Task,
  { store }: Services,
): Promise<void> {
  const jobs = task.jobs.map((job): TaskJob =>
    lost.has(job) ? { ...job, status: 'FAILED', error: CANCELLED } : job,
  );
  const { due_ms } = task;
  await store.tasks.advance(task, { status: 'IN_PROGRESS', error: null, jobs, places: [], due_ms });
}

/** Asks the upstream to drop a job. Resolves with whether it did. */
async function drop(
  { state }: TaskJob,
  upstream: Upstream,
  { poll_client, configuration }: Services,
): Promise<boolean> {
  const request = requestOf(state, upstream);
  if (!request) return false;
  const { provider } = upstream;
  const { answer_bytes } = configuration.limits;
  const answer = await poll_client.ask(provider, wireOf(request), answer_bytes);
  const { status, headers, text } = answer;
  if (isTransient(status)) throw classifyError(status, headers, text, provider);
  return status >= 200 && status <= 299;
}

/** The request that drops a job; undefined if the upstream has none. */
function requestOf(state: JsonObject, upstream: Upstream): VideoRequest | undefined {
  try {
    return videoOperation(upstream.provider).codec.cancel?.(state, upstream);
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

function unreachable(error: unknown): GatewayError {
  const message = error instanceof UpstreamError ? error.message : 'The upstream failed.';
  return new GatewayError('upstream_error', message, { cause: error });
}

function tooLate({ status }: Task): Answer {
  const message =
    status === 'COMPLETED' || status === 'FAILED'
      ? 'The task has ended already.'
      : 'The task has begun, or its upstream cannot drop it any more.';
  const { error } = new GatewayError('too_late_to_cancel', message).toJSON();
  return { status: 400, body: () => ({ status: 'ALREADY_COMPLETED', error }) };
}

/** The client that asks, as the audit log names it. */
export function keyActor(state: State): Actor {
  const { key_id: id } = fact(state, 'caller');
  return { kind: 'key', id, name: null, request_id: state.request_id };
}
