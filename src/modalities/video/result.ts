import { randomBytes } from 'node:crypto';
import { videoCost } from './price.js';
import { GatewayError } from '../../core/errors.js';
import {
  fact,
  type Context,
  type Services,
  type TaskBill,
  type TaskReply,
} from '../../pipeline/stage.js';
import type { Task } from '../../store/tasks/task-types.js';
import { addressOf } from './links.js';
import { gone, poll, upstreamOf } from './poll.js';

const CONTENT_ID_BYTES = 24;

/** How far a task is (specification 2.9). What cannot be learned now stays as it was known. */
export async function status(ctx: Context, services: Services): Promise<TaskReply> {
  const { task } = await poll(fact(ctx, 'task').task, services);
  return {
    kind: 'task',
    task,
    body: ({ id, status: state, error }) => ({
      request_id: id,
      status: shown(state),
      ...(state === 'FAILED' && { error: reasonOf(error) }),
    }),
  };
}

/**
 * The result of a task as far as it is (specification 2.10). Throws `GatewayError` (502) where that
 * could not be learned.
 */
export async function result(ctx: Context, services: Services): Promise<TaskReply> {
  const { task, fault } = await poll(fact(ctx, 'task').task, services);
  const isUnpaid = task.status === 'COMPLETED' && task.content_id === null;
  // Nobody pays for videos that cannot be fetched any more.
  const trouble = isUnpaid && !upstreamOf(task, services) ? gone() : fault;
  if (trouble) {
    const headers = trouble.retry_after === undefined ? {} : { 'retry-after': trouble.retry_after };
    throw new GatewayError('upstream_error', trouble.message, { headers, cause: trouble });
  }
  return { kind: 'task', task, body: (settled) => resultBody(settled, ctx, services) };
}

/** Charges a completed task, at the first time that its result is fetched, and never again. */
export async function settleTask(
  { task }: TaskReply,
  { store }: Services,
): Promise<TaskBill | undefined> {
  if (task.status !== 'COMPLETED') return undefined;
  if (task.content_id !== null) return { kind: 'task', task, cost_nano: 0n };
  const settlement = settlementOf(task);
  const settled = await store.tasks.settle(task.id, settlement);
  // Another request may have been first, and then ours has cost nothing.
  const isFirst = settled.content_id === settlement.content_id;
  return { kind: 'task', task: settled, cost_nano: isFirst ? settlement.cost_nano : 0n };
}

function settlementOf(task: Task): Parameters<Services['store']['tasks']['settle']>[1] {
  return {
    // Random text alone may begin with a dash, and a command would take it for an option.
    content_id: `vid_${randomBytes(CONTENT_ID_BYTES).toString('base64url')}`,
    cost_nano: videoCost(task.price_nano, task.call.duration_seconds, task.videos),
    usage: JSON.stringify(usageOf(task)),
  };
}

function resultBody(task: Task, ctx: Context, services: Services): object {
  const { id, model, error, content_id, videos } = task;
  const head = { request_id: id, status: shown(task.status), model };
  if (task.status === 'FAILED') return { ...head, error: reasonOf(error) };
  if (task.status !== 'COMPLETED' || content_id === null) return head;
  const data = Array.from({ length: videos }, (_, index) => ({
    url: addressOf(ctx, services, 'video.content', { requestID: content_id, index }),
  }));
  return { ...head, data, usage: usageOf(task) };
}

/** Seconds over all videos, so that seconds times price is the charge. */
function usageOf({ call, videos }: Task): object {
  return {
    video_seconds: call.duration_seconds * videos,
    video_resolution: call.resolution,
    video_has_audio: call.generate_audio,
  };
}

/** To the client, a task that is being submitted waits like any other. */
function shown(state: Task['status']): Task['status'] {
  return state === 'SUBMITTING' ? 'IN_QUEUE' : state;
}

function reasonOf(error: string | null): string {
  return error ?? 'The upstream gave no reason.';
}
