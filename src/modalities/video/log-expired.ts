import type { Logger } from 'pino';
import type { SweptTask } from '../../store/tasks/task-types.js';

/** Writes down what became of a task that nobody waits for, with all that is known of it. */
export function logExpired({ task, did }: SweptTask, log: Logger): void {
  const { id, account_id, model, provider, upstream_model, status } = task;
  // Not their errors: what an upstream says may repeat a prompt.
  const jobs = task.jobs.map(({ count, status: was, state }) => ({ count, status: was, state }));
  const known = { request_id: id, account: account_id, model, provider, upstream_model };
  if (did === 'failed') {
    log.warn({ ...known, was: status, jobs }, 'a task was ended without its upstream');
  } else {
    log.info({ ...known, was: status }, 'a task was removed after its retention');
  }
}
