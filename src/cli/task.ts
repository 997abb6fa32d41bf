import type { Command } from 'commander';
import { formatDollars } from '../lib/money.js';
import type { Task } from '../store/tasks/task-types.js';
import { acting, command, group, UsageError } from './command.js';
import { paged, pageOf, type PageOptions } from './listing.js';
import { namesOf } from './names.js';
import { printJson, printLine, formatTime } from './print.js';
import { printRows, formatCell } from './print-rows.js';
import { accountCalled, withStore } from './store.js';

interface ListOptions extends PageOptions {
  config: string;
  account?: string;
  json?: boolean;
}

const ROWS = 100;

/** `tollgate task list [--account NAME] [--limit N] | show ID` */
export function taskCommand(): Command {
  const words = command('list', 'show the video tasks, newest first', 'tollgate task list');
  const list = paged(words, String(ROWS))
    .option('--account <account>', "only this account's, by name or id")
    .option('--json', 'print one JSON document')
    .action(acting(listTasks));
  const show = command('show', 'show all that is known of a task', 'tollgate task show ID')
    .argument('<id>', 'its request_id, or the content ID of its videos')
    .option('--json', 'print one JSON document')
    .action(acting(showTask));
  return group('task', 'look at video tasks', 'tollgate task list', [list, show]);
}

async function listTasks({ config, account, json, ...typed }: ListOptions): Promise<void> {
  const { limit, since_ms = -Infinity } = pageOf(typed, Date.now(), ROWS);
  await withStore(config, async (store) => {
    const account_id = account === undefined ? {} : { account_id: await idOf(store, account) };
    const tasks = await store.tasks.list({ ...account_id, limit });
    const wanted = tasks.filter(({ created_ms }) => created_ms >= since_ms);
    if (json) return printJson(wanted.map((task) => row(task, task.account_id)));
    const names = namesOf(store);
    const rows = wanted.map(async (task) => row(task, await names.account(task.account_id)));
    printRows(await Promise.all(rows), false, 'There is no task.');
  });
}

async function idOf(store: Parameters<typeof accountCalled>[0], name: string): Promise<string> {
  return (await accountCalled(store, name)).id;
}

async function showTask(
  id: string,
  { config, json }: { config: string; json?: boolean },
): Promise<void> {
  await withStore(config, async (store) => {
    const task = (await store.tasks.task(id)) ?? (await store.tasks.taskByContent(id));
    if (!task) throw new UsageError(`there is no task "${id}"; "tollgate task list" shows them`);
    const all = details(task);
    if (json) return printJson(all);
    const names = namesOf(store);
    const account = `${await names.account(task.account_id)} (${task.account_id})`;
    const key = `${(await names.key(task.key_id)) ?? 'unknown'} (${task.key_id})`;
    for (const [name, value] of Object.entries({ ...all, account, key })) {
      const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      printLine(`${name.padEnd(15)} ${formatCell(text)}`);
    }
  });
}

function row(task: Task, account: string) {
  return {
    id: task.id,
    status: task.status,
    model: task.model,
    provider: task.provider,
    hold: formatDollars(task.hold_nano),
    charge: task.charge_nano === null ? null : formatDollars(task.charge_nano),
    created: formatTime(task.created_ms),
    account,
    error: task.error,
  };
}

function details(task: Task) {
  const { error, ...rest } = row(task, task.account_id);
  return {
    ...rest,
    key: task.key_id,
    upstream_model: task.upstream_model,
    price: formatDollars(task.price_nano),
    videos: task.videos,
    content_id: task.content_id,
    updated: formatTime(task.updated_ms),
    polled: formatTime(task.polled_ms === 0 ? null : task.polled_ms),
    due: formatTime(task.due_ms),
    call: task.call,
    jobs: task.jobs,
    error,
  };
}
