import type { Knex } from 'knex';
import type { Database } from '../database.js';
import { forgetCall, keepAnswer } from '../idempotency/idempotency-keys.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import { toBinding, isPossible, toStorableText } from '../column-values.js';
import { register, type Process } from '../leases/leases.js';
import { begunTask, lockTask, readTasks } from './task-rows.js';
import { cancelTask, endHold, failTask, lockCounted, chargeTask } from './task-endings.js';
import { hasEnded, removeTask, sweep } from './task-sweep.js';
import type {
  Task,
  TaskFilter,
  TaskIntent,
  TaskPage,
  TaskProgress,
  TaskStore,
  TaskTarget,
} from './task-types.js';
import type { ContentSource } from '../../core/task.js';
import { StoreError } from '../store-error.js';

/** The tasks of a database. `self` is the process that submits the tasks begun here. */
export function openTasks(database: Database, self: Process, now: () => number): TaskStore {
  const { clock_ms } = database;
  return {
    begin: (intent) =>
      database.write((trx) => begin(trx, intent, self, { now_ms: now(), clock_ms })),
    retarget: async (id, target) => {
      await database.write((trx) =>
        trx('tasks')
          .where({ id, status: 'SUBMITTING' })
          .update({ ...target, ...pricesOf(target), updated_ms: now() }),
      );
    },
    accept: (id, jobs, due_ms, answered) => {
      const accepted = { status: 'IN_QUEUE', jobs: JSON.stringify(jobs), due_ms };
      const row = { ...accepted, updated_ms: now() };
      return database.write((trx) => accept(trx, id, row, answered));
    },
    fail: (id, error, due_ms, call) =>
      database.write(async (trx) => {
        if (call) await forgetCall(trx, call);
        return failTask(trx, id, { error, due_ms, now_ms: now() });
      }),
    cancel: (id, error, due_ms, by) =>
      database.write((trx) => cancelTask(trx, id, { error, due_ms, now_ms: now() }, by)),
    task: (id) => find(database, { id }, id),
    taskByContent: (content_id) => find(database, { content_id }, content_id),
    claim: (id, interval_ms) => claim(database, id, interval_ms, now()),
    advance: (task, progress) => database.write((trx) => advance(trx, task, progress, now())),
    charge: (id, charge) => database.write((trx) => chargeTask(trx, id, charge, now())),
    place: (id, index) => place(database, id, index),
    list: (filter) => list(database, filter),
    page: (page) => pageOf(database, page),
    remove: (id) => database.write((trx) => remove(trx, id)),
    sweep: (keep_ms) => sweep(database, now(), keep_ms),
  };
}

async function begin(
  trx: Knex.Transaction,
  intent: TaskIntent,
  self: Process,
  { now_ms, clock_ms }: { now_ms: number; clock_ms: string },
): Promise<Task> {
  const { hold_nano } = intent;
  await register(trx, self, clock_ms);
  const windows = hold_nano > 0n ? await takeHold(trx, intent) : null;
  const { videos: _counted, ...task } = begunTask(intent, windows, now_ms);
  await trx('tasks').insert({
    ...task,
    process_id: self.id,
    ...pricesOf(intent),
    hold_nano: toBinding(hold_nano),
    call: JSON.stringify(intent.call),
    jobs: '[]',
  });
  return { ...task, videos: 0 };
}

/** The prices of a target as they are bound. */
function pricesOf(target: TaskTarget) {
  return {
    price_nano: toBinding(target.price_nano),
    upstream_price_nano: toBinding(target.upstream_price_nano),
    fee_nano: toBinding(target.fee_nano),
    upstream_fee_nano: toBinding(target.upstream_fee_nano),
  };
}

/**
 * Removes the hold of the request, whose amount the task holds from now on, and resolves with the
 * windows in which it counts.
 */
async function takeHold(
  trx: Knex.Transaction,
  { id, account_id, key_id, hold_nano }: TaskIntent,
): Promise<string | null> {
  const amount_nano = toBinding(hold_nano);
  const hold: { key_id: string | null; windows: string | null } | undefined = await trx('holds')
    .where({ request_id: id, account_id, amount_nano })
    .forUpdate()
    .first('key_id', 'windows');
  if (!hold) throw new StoreError(`The hold of request ${id} has ended before its task began.`);
  await trx('holds').where({ request_id: id }).delete();
  // The key counts all its tasks, also one whose hold is older than its limit.
  if (hold.key_id === null && (await lockCounted(trx, key_id))) {
    await trx('keys')
      .where({ id: key_id })
      .update({ held_nano: trx.raw('held_nano + ?', [amount_nano]) });
  }
  return hold.windows;
}

async function accept(
  trx: Knex.Transaction,
  id: string,
  row: object,
  answered: EndedCall | undefined,
): Promise<boolean> {
  const changed = await trx('tasks')
    .where({ id, status: 'SUBMITTING' })
    .update(row)
    .increment('version');
  if (changed === 0) return false;
  if (answered) await keepAnswer(trx, answered);
  return true;
}

async function find(
  database: Database,
  key: { id: string } | { content_id: string },
  id: string,
): Promise<Task | undefined> {
  if (!isPossible(id)) return undefined;
  const [task] = await database.read((knex) => readTasks(knex, (query) => query.where(key)));
  return task;
}

/** One conditional write: of many processes, one gets the turn to poll. */
async function claim(
  database: Database,
  id: string,
  interval_ms: number,
  now_ms: number,
): Promise<boolean> {
  const changed = await database.read<number>((knex) =>
    knex('tasks')
      .where({ id })
      .whereIn('status', ['IN_QUEUE', 'IN_PROGRESS'])
      // A time in the future comes from a clock that was set back: it must not block the poll.
      .whereRaw('not (polled_ms > ? and polled_ms <= ?)', [
        now_ms - interval_ms,
        now_ms + interval_ms,
      ])
      .update({ polled_ms: now_ms }),
  );
  return changed > 0;
}

async function advance(
  trx: Knex.Transaction,
  task: Task,
  progress: TaskProgress,
  now_ms: number,
): Promise<boolean> {
  const { id, version } = task;
  const { status, jobs, places, due_ms } = progress;
  const error = progress.error === null ? null : toStorableText(progress.error);
  const changed = await trx('tasks')
    .where({ id, version })
    .whereIn('status', ['IN_QUEUE', 'IN_PROGRESS'])
    .update({ status, error, jobs: JSON.stringify(jobs), due_ms, updated_ms: now_ms })
    .increment('version');
  if (changed === 0) return false;
  for (const { position, place: found } of places) {
    await trx('contents').insert({ task_id: id, position, place: JSON.stringify(found) });
  }
  if (status === 'FAILED') await endHold(trx, task);
  return true;
}

async function place(
  database: Database,
  task_id: string,
  index: number,
): Promise<ContentSource | undefined> {
  const row = await database.read<{ place: string } | undefined>((knex) =>
    knex('contents').where({ task_id }).orderBy('position').offset(index).first('place'),
  );
  return row && (JSON.parse(row.place) as ContentSource);
}

function list(
  database: Database,
  { account_id, status, before, limit }: TaskFilter,
): Promise<Task[]> {
  return database.read((knex) =>
    readTasks(knex, (query) => {
      if (account_id !== undefined) query.where({ account_id });
      if (status !== undefined) query.where({ status });
      if (before) query.whereRaw('(created_ms, id) < (?, ?)', [before.created_ms, before.id]);
      const newest = ['created_ms', 'id'].map((column) => ({ column, order: 'desc' }));
      return query.orderBy(newest).limit(limit);
    }),
  );
}

function pageOf(
  database: Database,
  { account_id, models, order, after, limit }: TaskPage,
): Promise<Task[]> {
  return database.read((knex) =>
    readTasks(knex, (query) => {
      query.where({ account_id });
      if (models) query.whereIn('model', models);
      if (after !== undefined) query.where('id', order === 'asc' ? '>' : '<', after);
      return query.orderBy('id', order).limit(limit);
    }),
  );
}

/** A task with a hold is not removed: its upstream was paid, and its result is not charged yet. */
async function remove(trx: Knex.Transaction, id: string): Promise<boolean> {
  const task = await lockTask(trx, id);
  if (!task || !hasEnded(task) || task.hold_nano > 0n) return false;
  await removeTask(trx, id);
  return true;
}
