import type { Task } from '../../../store/tasks/task-types.js';
import type { AspectRatio, Resolution } from '../../../core/task.js';

/** The prefix of the IDs of videos, as at OpenAI. */
const PREFIX = 'video_';
const ID = /^video_([0-9a-f-]{36})$/u;

/** The sizes of OpenAI's API, portrait or landscape, as parameters of the queue. */
export const SIZES = {
  '720x1280': { resolution: '720p', aspect_ratio: '9:16' },
  '1280x720': { resolution: '720p', aspect_ratio: '16:9' },
  '1080x1920': { resolution: '1080p', aspect_ratio: '9:16' },
  '1920x1080': { resolution: '1080p', aspect_ratio: '16:9' },
  '2160x3840': { resolution: '4k', aspect_ratio: '9:16' },
  '3840x2160': { resolution: '4k', aspect_ratio: '16:9' },
} as const satisfies Record<string, Shape>;

interface Shape {
  resolution: Resolution;
  aspect_ratio: AspectRatio;
}

const STATUSES = {
  SUBMITTING: 'queued',
  IN_QUEUE: 'queued',
  IN_PROGRESS: 'in_progress',
  COMPLETED: 'completed',
  FAILED: 'failed',
} as const;

/** The size of a video in pixels, `1280x720`. */
export function sizeOf({ resolution, aspect_ratio }: Shape): string {
  const sizes = Object.entries(SIZES);
  const fits = (one: Shape): boolean =>
    one.resolution === resolution && one.aspect_ratio === aspect_ratio;
  return sizes.find(([, one]) => fits(one))?.[0] ?? '';
}

/** The ID of a task for OpenAI's clients. */
export function videoId({ id }: Pick<Task, 'id'>): string {
  return PREFIX + id;
}

/** The ID of the task of a video; undefined if the text is not the ID of a video. */
export function taskId(video_id: string): string | undefined {
  return ID.exec(video_id)?.[1];
}

/** A task as OpenAI's clients expect it. Times are in seconds; the prompt is not stored. */
export function videoObject(task: Task): object {
  const { model, status, call, created_ms, due_ms } = task;
  const hasEnded = status === 'COMPLETED' || status === 'FAILED';
  return {
    id: videoId(task),
    object: 'video',
    model,
    status: STATUSES[status],
    progress: progressOf(task),
    created_at: seconds(created_ms),
    completed_at: status === 'COMPLETED' ? completedAt(task) : null,
    expires_at: hasEnded ? seconds(due_ms) : null,
    error: status === 'FAILED' ? errorOf(task) : null,
    prompt: null,
    remixed_from_video_id: null,
    seconds: String(call.duration_seconds),
    size: sizeOf(call),
  };
}

/** The percentage of completed jobs, as upstreams report no progress. */
function progressOf({ status, jobs }: Task): number {
  if (status === 'COMPLETED') return 100;
  const done = jobs.filter((job) => job.status === 'COMPLETED').length;
  return Math.floor((100 * done) / Math.max(jobs.length, 1));
}

function completedAt({ jobs }: Task): number | null {
  const ended = jobs.flatMap(({ ended_ms }) => ended_ms ?? []);
  return ended.length === 0 ? null : seconds(Math.max(...ended));
}

function errorOf({ error }: Task): object {
  const message = error ?? 'The upstream gave no reason.';
  return { code: 'video_generation_failed', message };
}

function seconds(time_ms: number): number {
  return Math.floor(time_ms / 1_000);
}
