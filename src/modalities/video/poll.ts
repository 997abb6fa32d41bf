import type { Polled, Services } from '../../pipeline/services.js';
import type { Task, TaskJob, TaskProgress } from '../../store/tasks/task-types.js';
import { pollJob, type JobReply } from './poll-job.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';

/**
 * Polls a task at its upstream, unless it has ended, or any process polled it within the provider's
 * poll interval. Concurrent callers share one poll.
 */
export function poll(task: Task, services: Services): Promise<Polled> {
  if (task.status !== 'IN_QUEUE' && task.status !== 'IN_PROGRESS') return Promise.resolve({ task });
  const upstream = upstreamOf(task, services);
  if (!upstream) return Promise.resolve({ task, fault: missingUpstream() });
  const inFlight = services.polls.get(task.id);
  if (inFlight) return inFlight;
  const polling = pollOnce(task, upstream, services).finally(() => services.polls.delete(task.id));
  services.polls.set(task.id, polling);
  return polling;
}

/** The upstream of a task; undefined if a reload has removed its provider. */
export function upstreamOf(task: Task, { configuration }: Services): Upstream | undefined {
  const provider = configuration.providers.get(task.provider);
  if (!provider?.operations.has('video')) return undefined;
  return {
    provider,
    model: task.upstream_model,
    weight: undefined,
    set: {},
    drop: [],
    rename: {},
    // The price of a second is stored with the task.
    price: { free: true, input_nano_per_million: 0n, output_nano_per_million: 0n },
  };
}

/** The error of a task whose provider is no longer configured. */
export function missingUpstream(): UpstreamError {
  return new UpstreamError('missing', 'The provider of this task is not configured any more.');
}

async function pollOnce(task: Task, upstream: Upstream, services: Services): Promise<Polled> {
  const { store, now } = services;
  const interval_ms = upstream.provider.poll_interval_ms;
  // A time far in the future comes from before the clock was set back.
  if (Math.abs(now() - task.polled_ms) < interval_ms) return { task };
  if (!(await store.tasks.claim(task.id, interval_ms)))
    return { task: await reloaded(task, services) };
  const answers = await Promise.all(
    task.jobs.map((job) => askAboutJob(job, task, upstream, services)),
  );
  const fault = answers.find((answer) => answer.fault)?.fault;
  const isNews = answers.some((answer, i) => !answer.fault && !hasEnded(task.jobs[i]));
  if (isNews) await store.tasks.advance(task, progressOf(task, answers, services));
  return { task: await reloaded(task, services), ...(fault && !isNews && { fault }) };
}

/** The task as it is stored now: other processes may have changed it. */
async function reloaded(task: Task, { store }: Services): Promise<Task> {
  return (await store.tasks.task(task.id)) ?? task;
}

async function askAboutJob(
  job: TaskJob,
  task: Task,
  upstream: Upstream,
  services: Services,
): Promise<JobReply> {
  const { poll_client, configuration, log, health } = services;
  const { name } = upstream.provider;
  if (hasEnded(job)) return { job, places: [] };
  try {
    const answer = await pollJob(job, upstream, poll_client, configuration.limits.answer_bytes);
    health.answered(name);
    return answer;
  } catch (error) {
    health.failed(name, error);
    const known = { request_id: task.id, provider: task.provider };
    log.warn({ ...known, err: error }, 'an upstream could not be asked about a task');
    const fault =
      error instanceof UpstreamError ? error : new UpstreamError('broken', 'The upstream failed.');
    return { job, places: [], fault };
  }
}

function progressOf(task: Task, answers: readonly JobReply[], services: Services): TaskProgress {
  const { now, configuration } = services;
  const now_ms = now();
  const jobs = answers.map(({ job }) =>
    hasEnded(job) ? { ...job, ended_ms: job.ended_ms ?? now_ms } : job,
  );
  const status = statusOf(task, jobs);
  const kept_ms = now_ms + configuration.limits.task_ms;
  const errors = new Set(jobs.flatMap(({ error }) => error ?? []));
  return {
    status,
    error: status === 'FAILED' ? [...errors].join(' ') : null,
    jobs,
    places: answers.flatMap(({ places }, i) => {
      const before = jobs.slice(0, i).reduce((sum, { count }) => sum + count, 0);
      return places.map((place, at) => ({ position: before + at, place }));
    }),
    due_ms: status === 'COMPLETED' || status === 'FAILED' ? kept_ms : task.due_ms,
  };
}

/** A task has ended when all its jobs have. It is completed if one job is: its videos are kept. */
function statusOf(task: Task, jobs: readonly TaskJob[]): TaskProgress['status'] {
  if (jobs.every(hasEnded)) {
    return jobs.some(({ status }) => status === 'COMPLETED') ? 'COMPLETED' : 'FAILED';
  }
  const begun = task.status === 'IN_PROGRESS' || jobs.some(({ status }) => status !== 'IN_QUEUE');
  return begun ? 'IN_PROGRESS' : 'IN_QUEUE';
}

function hasEnded(job: TaskJob | undefined): boolean {
  return job?.status === 'COMPLETED' || job?.status === 'FAILED';
}
