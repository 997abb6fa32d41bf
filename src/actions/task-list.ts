import { formatDollars } from '../lib/money.js';
import type { TaskQuery } from '../schema-types/task-query.js';
import type { Task } from '../store/tasks/task-types.js';
import { listAction, NotThere, oneAction } from './action.js';
import { isMoment } from './cursor.js';
import { isoTime, taskShape } from './shapes.js';

interface TaskFilter extends Pick<TaskQuery, 'status'> {
  account_id?: string;
}

export const listTasks = listAction({
  name: 'task list',
  schema: 'task-query',
  fields: {
    account_id: {
      typed: '--account <account>',
      about: "only this account's, by name or id",
      type: 'account',
    },
  },
  async rows(
    { store },
    { account_id, status }: TaskFilter,
    { limit, after, since_ms = -Infinity },
  ) {
    const tasks = await store.tasks.list({
      limit,
      ...(account_id !== undefined && { account_id }),
      ...(status && { status }),
      ...(isMoment(after) && { before: { created_ms: after[0], id: after[1] } }),
    });
    return tasks.filter(({ created_ms }) => created_ms >= since_ms);
  },
  place: { of: ({ created_ms, id }) => [created_ms, id], is: isMoment },
  routes: [
    {
      method: 'GET',
      path: '/api/tasks',
      scope: 'gateway:read',
      id: 'listTasks',
      summary: 'List the video tasks of all accounts, newest first, page by page',
      status: 200,
      answer: 'TaskPage',
    },
  ],
  shape: taskShape,
  csv: {
    file: 'tasks.csv',
    columns: () => [
      'id',
      'status',
      'account',
      'key',
      'model',
      'provider',
      'upstream_model',
      'videos',
      'held',
      'charge',
      'error',
      'created',
      'updated',
    ],
  },
  command: {
    about: 'show the video tasks, newest first',
    example: 'tollgate task list',
    rows: 100,
    document: taskColumns,
    async columns(task, names) {
      return { ...taskColumns(task), account: await names.account(task.account_id) };
    },
    none: () => 'There is no task.',
  },
});

export const showTask = oneAction({
  name: 'task show',
  fields: {
    id: { typed: '<id>', about: 'its request_id, or the content ID of its videos', type: 'text' },
  },
  async run({ store }, { id }: { id: string }) {
    const task = (await store.tasks.task(id)) ?? (await store.tasks.taskByContent(id));
    if (task) return task;
    const typed_message = `there is no task "${id}"; "tollgate task list" shows them`;
    throw new NotThere('There is no such task.', typed_message);
  },
  command: {
    about: 'show all that is known of a task',
    example: 'tollgate task show ID',
    document: taskDocument,
    async columns(task, names) {
      const { account_id, key_id } = task;
      const account = `${await names.account(account_id)} (${account_id})`;
      const key = `${(await names.key(key_id)) ?? 'unknown'} (${key_id})`;
      return { ...taskDocument(task), account, key };
    },
  },
});

function taskColumns(task: Task) {
  return {
    id: task.id,
    status: task.status,
    model: task.model,
    provider: task.provider,
    hold: formatDollars(task.hold_nano),
    charge: task.charge_nano === null ? null : formatDollars(task.charge_nano),
    created: isoTime(task.created_ms),
    account: task.account_id,
    error: task.error,
  };
}

function taskDocument(task: Task) {
  const { error, ...rest } = taskColumns(task);
  return {
    ...rest,
    key: task.key_id,
    upstream_model: task.upstream_model,
    price: formatDollars(task.price_nano),
    videos: task.videos,
    content_id: task.content_id,
    updated: isoTime(task.updated_ms),
    polled: isoTime(task.polled_ms === 0 ? null : task.polled_ms),
    due: isoTime(task.due_ms),
    call: task.call,
    jobs: task.jobs,
    error,
  };
}
