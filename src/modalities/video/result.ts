import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../core/errors.js';
import type { UpstreamError } from '../../core/upstream-error.js';
import type { Bill } from '../../billing/bill.js';
import type { Services } from '../../pipeline/services.js';
import type { Answer, RoutedTask } from '../../pipeline/work.js';
import type { Task } from '../../store/tasks/task-types.js';
import { linkTo, type LinkBase } from './links.js';
import { gone, poll, upstreamOf } from './poll.js';
import { videoCost } from './price.js';

const CONTENT_ID_BYTES = 24;

/** What a request has paid for a task. */
export function taskBill(cost_nano: bigint): Bill {
  return { usage: { prompt_tokens: 0, completion_tokens: 0 }, cost_nano, estimated: false };
}

/** How far a task is (specification 2.9). What cannot be learned now stays as it was known. */
export async function status({ task: routed }: RoutedTask, services: Services): Promise<Answer> {
  const { task } = await poll(routed, services);
  const { id, status: state, error } = task;
  const body = {
    request_id: id,
    status: shown(state),
    ...(state === 'FAILED' && { error: reasonOf(error) }),
  };
  return { body: () => body };
}

/**
 * The result of a task as far as it is (specification 2.10). Its delivery charges a completed task,
 * at the first time that its result is fetched, and never again. Throws `GatewayError` (502) where
 * the state of the task could not be learned.
 */
export async function result(
  { task: routed }: RoutedTask,
  base: LinkBase,
  services: Services,
): Promise<Answer> {
  const { task, fault } = await poll(routed, services);
  const isUnpaid = task.status === 'COMPLETED' && task.content_id === null;
  // Nobody pays for videos that cannot be fetched any more.
  const trouble = isUnpaid && !upstreamOf(task, services) ? gone() : fault;
  if (trouble) throw unknown(trouble);
  let settled = task;
  return {
    provider: task.provider,
    streams: false,
    deliver: async () => {
      const paid = await settleTask(task, services);
      settled = paid.task;
      return taskBill(paid.cost_nano);
    },
    body: () => resultBody(settled, base, services),
  };
}

/** The refusal of a request for a task about which its upstream could not be asked. */
export function unknown(fault: UpstreamError): GatewayError {
  const headers = fault.retry_after === undefined ? {} : { 'retry-after': fault.retry_after };
  return new GatewayError('upstream_error', fault.message, { headers, cause: fault });
}

/** Charges a completed task unless it was charged before, and answers what that has cost. */
export async function settleTask(
  task: Task,
  { store }: Services,
): Promise<{ task: Task; cost_nano: bigint }> {
  if (task.status !== 'COMPLETED' || task.content_id !== null) return { task, cost_nano: 0n };
  const settlement = settlementOf(task);
  const settled = await store.tasks.settle(task.id, settlement).catch(async (error: unknown) => {
    if (await store.tasks.task(task.id)) throw error;
    throw deleted(error);
  });
  // Another request may have been first, and then ours has cost nothing.
  const isFirst = settled.content_id === settlement.content_id;
  return { task: settled, cost_nano: isFirst ? settlement.cost_nano : 0n };
}

/** Another request has paid for the task since this one found it, and deleted it. */
export function deleted(cause?: unknown): GatewayError {
  return new GatewayError('not_found', 'The video was deleted meanwhile.', { cause });
}

function settlementOf(task: Task): Parameters<Services['store']['tasks']['settle']>[1] {
  return {
    // Random text alone may begin with a dash, and a command would take it for an option.
    content_id: `vid_${randomBytes(CONTENT_ID_BYTES).toString('base64url')}`,
    cost_nano: videoCost(task.price_nano, task.call.duration_seconds, task.videos),
    usage: JSON.stringify(usageOf(task)),
  };
}

function resultBody(task: Task, base: LinkBase, services: Services): object {
  const { id, model, error, content_id, videos } = task;
  const head = { request_id: id, status: shown(task.status), model };
  if (task.status === 'FAILED') return { ...head, error: reasonOf(error) };
  if (task.status !== 'COMPLETED' || content_id === null) return head;
  const data = Array.from({ length: videos }, (_, index) => ({
    url: linkTo('video.content', { requestID: content_id, index }, base, services),
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
