import type { Logger } from 'pino';
import type { SweptTask } from '../../store/tasks/task-types.js';

/** Logs a task that the sweep failed or removed, with all that is known of it. */
export function logExpired({ task, did }: SweptTask, log: Logger): void {
  const { id, account_id, model, provider, upstream_model, status } = task;
  // The errors are left out: a message of an upstream may repeat a prompt.
  const jobs = task.jobs.map(({ count, status: was, state }) => ({ count, status: was, state }));
  const known = { request_id: id, account: account_id, model, provider, upstream_model };
  if (did === 'failed') {
    log.warn({ ...known, was: status, jobs }, 'a task was ended without its upstream');
  } else {
    log.info({ ...known, was: status }, 'a task was removed after its retention');
  }
}
