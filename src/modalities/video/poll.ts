import type { Polled, Services } from '../../pipeline/services.js';
import type { Task, TaskJob, TaskProgress } from '../../store/tasks/task-types.js';
import { pollJob, type JobAnswer } from './poll-job.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';

/**
 * Asks the upstream how far a task is, unless it has ended or was asked within the provider's poll
 * interval, by whichever process. Callers that come together share one question.
 */
export function poll(task: Task, services: Services): Promise<Polled> {
  if (task.status !== 'IN_QUEUE' && task.status !== 'IN_PROGRESS') return Promise.resolve({ task });
  const upstream = upstreamOf(task, services);
  if (!upstream) return Promise.resolve({ task, fault: gone() });
  const underWay = services.polls.get(task.id);
  if (underWay) return underWay;
  const polling = pollOnce(task, upstream, services).finally(() => services.polls.delete(task.id));
  services.polls.set(task.id, polling);
  return polling;
}

/** The upstream that a task is pinned to; undefined where a reload has taken it away. */
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
    // What a second costs is pinned with the task.
    price: { free: true, input_nano_per_million: 0n, output_nano_per_million: 0n },
  };
}

/** The fault of a task whose provider is configured no longer. */
export function gone(): UpstreamError {
  return new UpstreamError('missing', 'The provider of this task is not configured any more.');
}

async function pollOnce(task: Task, upstream: Upstream, services: Services): Promise<Polled> {
  const { store, now } = services;
  const interval_ms = upstream.provider.poll_interval_ms;
  // A time that lies far ahead is that of a clock which was set back since.
  if (Math.abs(now() - task.polled_ms) < interval_ms) return { task };
  if (!(await store.tasks.claim(task.id, interval_ms)))
    return { task: await again(task, services) };
  const answers = await Promise.all(task.jobs.map((job) => ask(job, task, upstream, services)));
  const fault = answers.find((answer) => answer.fault)?.fault;
  const isNews = answers.some((answer, i) => !answer.fault && !hasEnded(task.jobs[i]));
  if (isNews) await store.tasks.advance(task, progressOf(task, answers, services));
  return { task: await again(task, services), ...(fault && !isNews && { fault }) };
}

/** As it is written now: this process may not be the only one that has learned something. */
async function again(task: Task, { store }: Services): Promise<Task> {
  return (await store.tasks.task(task.id)) ?? task;
}

async function ask(
  job: TaskJob,
  task: Task,
  upstream: Upstream,
  services: Services,
): Promise<JobAnswer> {
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

function progressOf(task: Task, answers: readonly JobAnswer[], services: Services): TaskProgress {
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

/** A task is done when all its jobs are, and well if one of them is: good videos are kept. */
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
