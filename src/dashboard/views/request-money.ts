import { chargedTask } from '../../billing/charged-task.js';
import type { RequestRecord } from '../../core/request-record.js';
import { NoCharge } from '../../store/store-error.js';
import type { Store } from '../../store/store-types.js';
import type { Task } from '../../store/tasks/task-types.js';

/** What became of the money of a request, beyond its record. */
export interface RequestMoney {
  /** The video task that it submitted, to which its hold was moved. */
  task: Task | undefined;
  /** The video task whose result it was the first to fetch, under whose ID the charge is. */
  fetched: Task | undefined;
  /** What was given back of its charge. */
  refunded_nano: bigint;
}

/** Reads the tasks and the refunds of a request. */
export async function moneyOf(store: Store, record: RequestRecord): Promise<RequestMoney> {
  const [task, fetched] = await Promise.all([
    store.tasks.task(record.id),
    chargedTask(store, record),
  ]);
  return { task, fetched, refunded_nano: await refundedOf(store, record, fetched) };
}

async function refundedOf(
  store: Store,
  record: RequestRecord,
  fetched: Task | undefined,
): Promise<bigint> {
  if (record.cost_nano === 0n) return 0n;
  const request = { request_id: fetched?.id ?? record.id, account_id: record.account_id };
  try {
    const { charge, left_nano } = await store.refundable(request);
    return -charge.amount_nano - left_nano;
  } catch (error) {
    if (error instanceof NoCharge) return 0n;
    throw error;
  }
}
