import type { Knex } from 'knex';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../database.js';
import { endHold, failTask } from './task-endings.js';
import { lockTask, readTasks } from './task-rows.js';
import type { SweptTask, Task } from './task-types.js';

/** The errors that clients of swept tasks read. */
const STOPPED = 'The gateway stopped while submitting; the upstream may have taken the task.';
const LATE = 'The task was not finished in time.';

/** See `TaskStore.sweep`. Run `recover` first, which removes dead processes. */
export async function sweep(
  database: Database,
  now_ms: number,
  keep_ms: number,
): Promise<SweptTask[]> {
  const due = await database.read<{ id: string }[]>((knex) =>
    overdue(knex('tasks').select('id'), now_ms),
  );
  const swept: SweptTask[] = [];
  for (const { id } of due) {
    const one = await database.write((trx) => sweepOne(trx, id, now_ms, keep_ms));
    if (one) swept.push(one);
    // SQLite blocks the event loop: with thousands of overdue tasks no request would be served.
    await nextTurn();
  }
  return swept;
}

/** Selects tasks that are due, and submissions whose process has ended. */
function overdue(query: Knex.QueryBuilder, now_ms: number): Knex.QueryBuilder {
  return query.where((where) =>
    where
      .where('due_ms', '<=', now_ms)
      .orWhere((left) =>
        left
          .where('status', 'SUBMITTING')
          .whereRaw('not exists (select 1 from processes where processes.id = tasks.process_id)'),
      ),
  );
}

async function sweepOne(
  trx: Knex.Transaction,
  id: string,
  now_ms: number,
  keep_ms: number,
): Promise<SweptTask | undefined> {
  const locked = await lockTask(trx, id);
  // Meanwhile another process may have swept it, or the upstream may have answered.
  const [task] = await readTasks(trx, (query) => overdue(query.where({ id }), now_ms));
  if (!locked || !task) return undefined;
  if (hasEnded(task)) {
    await endHold(trx, task);
    await removeTask(trx, id);
    return { task, did: 'removed' };
  }
  const error = task.status === 'SUBMITTING' ? STOPPED : LATE;
  await failTask(trx, id, { error, due_ms: now_ms + keep_ms, now_ms });
  return { task: { ...task, error }, did: 'failed' };
}

/** Removes a task with the sources of its videos. */
export async function removeTask(trx: Knex.Transaction, id: string): Promise<void> {
  await trx('contents').where({ task_id: id }).delete();
  await trx('tasks').where({ id }).delete();
}

/** Whether the status of the task is final. */
export function hasEnded({ status }: Task): boolean {
  return status === 'COMPLETED' || status === 'FAILED';
}
