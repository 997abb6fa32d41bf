import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../core/errors.js';
import type { UpstreamError } from '../../core/upstream-error.js';
import { NO_TOKENS } from '../../core/usage.js';
import type { Bill, Receipt } from '../../billing/bill.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Services } from '../../pipeline/services.js';
import type { Answer, RoutedTask } from '../../pipeline/work.js';
import type { Task } from '../../store/tasks/task-types.js';
import { linkTo, type LinkBase } from './links.js';
import { missingUpstream, poll, upstreamOf } from './poll.js';
import { videoCost } from './price.js';

const CONTENT_ID_BYTES = 24;

/** The bill of a request that charges nothing. */
export const NOTHING_CHARGED: Bill = { usage: NO_TOKENS, cost_nano: 0n, estimated: false };

/**
 * The status of a task (specification 2.9): the last known one if the upstream cannot be polled.
 */
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
 * The result of a task (specification 2.10), or its status until it has one. Its first delivery
 * charges a completed task; later ones do not. A HEAD request is not charged, as its client does
 * not get the result. Throws `GatewayError` (502) if the upstream cannot be polled.
 */
export async function result(
  { task: routed }: RoutedTask,
  client: ClientConnection,
  base: LinkBase,
  services: Services,
): Promise<Answer> {
  const { task, fault } = await poll(routed, services);
  const isUnpaid = task.status === 'COMPLETED' && task.content_id === null;
  // Videos that can no longer be fetched are not charged.
  const trouble = isUnpaid && !upstreamOf(task, services) ? missingUpstream() : fault;
  if (trouble) throw unknown(trouble);
  const bill = client.is_head ? NOTHING_CHARGED : taskBill(task);
  let shown = task;
  return {
    provider: task.provider,
    streams: false,
    finish: async () => bill,
    close: (receipt) => {
      shown = chargedTask(bill, receipt) ?? task;
    },
    body: () => resultBody(shown, base, services),
  };
}

/** The error of a request for a task whose upstream cannot be polled. */
export function unknown(fault: UpstreamError): GatewayError {
  const headers = fault.retry_after === undefined ? {} : { 'retry-after': fault.retry_after };
  return new GatewayError('upstream_error', fault.message, { headers, cause: fault });
}

/** The bill of a task: of a completed one, unless it was charged before. */
export function taskBill(task: Task): Bill {
  const { call, videos } = task;
  if (task.status !== 'COMPLETED' || task.content_id !== null) return NOTHING_CHARGED;
  const jobs = BigInt(task.jobs.filter(({ status: state }) => state === 'COMPLETED').length);
  const costAt = (rate_nano: bigint, fee_nano: bigint): bigint =>
    videoCost(rate_nano, call.duration_seconds, videos) + jobs * fee_nano;
  return {
    usage: NO_TOKENS,
    cost_nano: costAt(task.price_nano, task.fee_nano),
    upstream_cost_nano: costAt(task.upstream_price_nano, task.upstream_fee_nano),
    estimated: false,
    counts: { video_seconds: secondsOf(task) },
    task: {
      // Random text alone may begin with a dash, which commands take for an option.
      content_id: `vid_${randomBytes(CONTENT_ID_BYTES).toString('base64url')}`,
      usage: JSON.stringify(videoUsage(task)),
    },
  };
}

/** The task that was charged, if one was. Throws `GatewayError` if it was deleted meanwhile. */
export function chargedTask(bill: Bill, { task }: Receipt): Task | undefined {
  if (bill.task && !task) throw deleted();
  return task;
}

/** Another request has charged and deleted the task since this one found it. */
export function deleted(): GatewayError {
  return new GatewayError('not_found', 'The video was deleted meanwhile.');
}

function resultBody(task: Task, base: LinkBase, services: Services): object {
  const { id, model, error, content_id, videos } = task;
  const head = { request_id: id, status: shown(task.status), model };
  if (task.status === 'FAILED') return { ...head, error: reasonOf(error) };
  if (task.status !== 'COMPLETED' || content_id === null) return head;
  const data = Array.from({ length: videos }, (_, index) => ({
    url: linkTo('video.content', { requestID: content_id, index }, base, services),
  }));
  return { ...head, data, usage: videoUsage(task) };
}

/** The seconds of all videos, so that seconds times price is the charge. */
function secondsOf({ call, videos }: Task): number {
  return call.duration_seconds * videos;
}

function videoUsage(task: Task): object {
  const { call } = task;
  return {
    video_seconds: secondsOf(task),
    video_resolution: call.resolution,
    video_has_audio: call.generate_audio,
  };
}

/** Clients see a task that is being submitted as queued. */
function shown(state: Task['status']): Task['status'] {
  return state === 'SUBMITTING' ? 'IN_QUEUE' : state;
}

function reasonOf(error: string | null): string {
  return error ?? 'The upstream gave no reason.';
}
