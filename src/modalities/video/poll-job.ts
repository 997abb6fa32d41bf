import { videoOperation, type VideoProgress } from './codec.js';
import type { TaskJob } from '../../store/tasks/task-types.js';
import { ReplyTooLarge } from '../../upstream/reply-body.js';
import type { PollAnswer, PollClient } from '../../upstream/poll-client.js';
import { classifyError } from '../../upstream/classify-error.js';
import { wireOf } from './submit-jobs.js';
import { parseJson } from '../../lib/json-text.js';
import type { JsonObject } from '../../core/json.js';
import type { ContentSource } from '../../core/task.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';

/** The state of a job after a poll, with its videos once it is done. */
export interface JobReply {
  job: TaskJob;
  places: readonly ContentSource[];
  fault?: UpstreamError;
}

/** The most requests of one poll. */
const MAX_REQUESTS = 4;

/** Statuses that say nothing about the job: the poll failed, and is repeated later. */
const TRANSIENT = new Set([401, 403, 408, 429]);

/** Polls a job at its upstream. Throws `UpstreamError` if the poll fails. */
export async function pollJob(
  job: TaskJob,
  upstream: Upstream,
  control: PollClient,
  limit_bytes: number,
): Promise<JobReply> {
  try {
    return await requestProgress(job, upstream, control, limit_bytes);
  } catch (error) {
    const { too_large } = videoOperation(upstream.provider).codec;
    if (!(error instanceof ReplyTooLarge) || too_large === undefined) throw error;
    return failed(job, too_large);
  }
}

async function requestProgress(
  job: TaskJob,
  upstream: Upstream,
  control: PollClient,
  limit_bytes: number,
): Promise<JobReply> {
  const { provider } = upstream;
  const { codec } = videoOperation(upstream.provider);
  let state: JsonObject = job.state;
  for (let request_number = 0; request_number < MAX_REQUESTS; request_number += 1) {
    const request = wireOf(codec.poll(state, upstream));
    const answer = await control.ask(provider, request, limit_bytes);
    const { status, headers, text } = answer;
    if (isTransient(status)) throw classifyError(status, headers, text, provider);
    const progress = codec.polled({ status, body: bodyOf(answer) }, state, upstream);
    if ('status' in progress) return answerOf({ ...job, state }, progress);
    state = progress.state;
  }
  return { job: { ...job, state, status: 'IN_PROGRESS' }, places: [] };
}

/** Whether a status says nothing about the job. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status) || status >= 500 || (status >= 300 && status <= 399);
}

function bodyOf({ status, text }: PollAnswer): unknown {
  const body = parseJson(text);
  if (body !== undefined) return body;
  if (status > 299) return text;
  throw new UpstreamError('broken', "The upstream's answer is not JSON.");
}

function answerOf(job: TaskJob, progress: VideoProgress): JobReply {
  switch (progress.status) {
    case 'COMPLETED': {
      // Videos beyond the count are dropped, and not charged.
      const places = progress.videos.slice(0, job.count);
      if (places.length === 0) return failed(job, 'The upstream finished without a video.');
      return { job: { ...job, status: 'COMPLETED' }, places };
    }
    case 'FAILED':
      return failed(job, progress.error);
    default:
      return { job: { ...job, status: progress.status }, places: [] };
  }
}

function failed(job: TaskJob, error: string): JobReply {
  const reason = error.trim() || 'The upstream gave no reason.';
  return { job: { ...job, status: 'FAILED', error: reason.slice(0, 1_000) }, places: [] };
}
