import type { Knex } from 'knex';
import type { Task, TaskCall, TaskIntent, TaskJob, TaskStatus } from './task-types.js';

interface TaskRow {
  id: string;
  account_id: string;
  key_id: string;
  model: string;
  provider: string;
  upstream_model: string;
  call: string;
  jobs: string;
  status: TaskStatus;
  error: string | null;
  content_id: string | null;
  videos: bigint;
  price_nano: bigint;
  upstream_price_nano: bigint | null;
  fee_nano: bigint;
  upstream_fee_nano: bigint;
  hold_nano: bigint;
  windows: string | null;
  charge_nano: bigint | null;
  version: bigint;
  polled_ms: bigint;
  due_ms: bigint;
  created_ms: bigint;
  updated_ms: bigint;
}

/** The tasks that the filter selects. */
export async function readTasks(
  knex: Knex,
  filter: (query: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<Task[]> {
  const videos = knex('contents').whereRaw('contents.task_id = tasks.id').count('*').as('videos');
  const rows: TaskRow[] = await filter(knex('tasks').select('tasks.*', videos));
  return rows.map(toTask);
}

/** Reads a task and locks it until the transaction ends. */
export async function lockTask(trx: Knex.Transaction, id: string): Promise<Task | undefined> {
  const [task] = await readTasks(trx, (query) => query.where({ id }).forUpdate());
  return task;
}

/** A task as `TaskStore.begin` stores it. */
export function begunTask(intent: TaskIntent, windows: string | null, now_ms: number): Task {
  return {
    ...intent,
    windows,
    jobs: [],
    status: 'SUBMITTING',
    error: null,
    content_id: null,
    videos: 0,
    charge_nano: null,
    version: 0,
    polled_ms: 0,
    created_ms: now_ms,
    updated_ms: now_ms,
  };
}

function toTask(row: TaskRow): Task {
  return {
    ...row,
    // An older version wrote no such price, and knew of no other one.
    upstream_price_nano: row.upstream_price_nano ?? row.price_nano,
    call: JSON.parse(row.call) as TaskCall,
    jobs: JSON.parse(row.jobs) as TaskJob[],
    videos: Number(row.videos),
    version: Number(row.version),
    polled_ms: Number(row.polled_ms),
    due_ms: Number(row.due_ms),
    created_ms: Number(row.created_ms),
    updated_ms: Number(row.updated_ms),
  };
}
