import type { RequestRecord } from '../core/request-record.js';
import type { Store } from '../store/store-types.js';
import type { Task } from '../store/tasks/task-types.js';

/** The tasks before a request that are looked through. */
const MAX_TASKS = 500;
/** Between the change of the task and the end of the request that made it. */
const SLACK_MS = 1_000;

/**
 * The task whose video a request was the first to fetch, so that its record has the cost: the
 * ledger has the charge under the ID of the task. Undefined if no task, or more than one, fits.
 */
export async function chargedTask(
  { tasks }: Pick<Store, 'tasks'>,
  record: RequestRecord,
): Promise<Task | undefined> {
  const { id, account_id, time_ms, took_ms, model, cost_nano } = record;
  if (cost_nano === 0n || !record.units?.video_seconds) return undefined;
  const before = { created_ms: time_ms, id };
  const earlier = await tasks.list({ account_id, before, limit: MAX_TASKS });
  const fitting = earlier.filter((task) => {
    const isThen = task.updated_ms >= time_ms && task.updated_ms <= time_ms + took_ms + SLACK_MS;
    return task.model === model && task.charge_nano === cost_nano && isThen;
  });
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** The same for the ID of a request, whose record may be gone, of an account or of any. */
export async function chargedTaskOf(
  store: Pick<Store, 'tasks' | 'requests'>,
  { request_id, account_id }: { request_id: string; account_id?: string },
): Promise<Task | undefined> {
  const record = await store.requests.one(request_id);
  if (!record || (account_id ?? record.account_id) !== record.account_id) return undefined;
  return chargedTask(store, record);
}
