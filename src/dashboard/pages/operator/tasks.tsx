import type { JSX } from 'preact';
import type { Task, TaskStatus } from '../../../store/task-types.js';
import type { DashboardServices, Route } from '../../types.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Card, Empty, Money, type Mood } from '../parts.js';

const PATH = '/operator/tasks';
const PAGE = 100;

const STATES: Record<TaskStatus, { name: string; mood: Mood | undefined }> = {
  SUBMITTING: { name: 'submitting', mood: undefined },
  IN_QUEUE: { name: 'in queue', mood: undefined },
  IN_PROGRESS: { name: 'in progress', mood: 'warn' },
  COMPLETED: { name: 'completed', mood: 'good' },
  FAILED: { name: 'failed', mood: 'bad' },
};

/** The video tasks of all accounts. */
export function tasksRoute({ store, now }: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    who: 'operator',
    answer: async (ctx, visitor) => {
      const tasks = await store.tasks.list({ limit: PAGE });
      const ids = [...new Set(tasks.map(({ account_id }) => account_id))];
      const accounts = await Promise.all(ids.map((id) => store.account(id)));
      const names = new Map(accounts.map((account) => [account?.id ?? '', account?.name ?? '']));
      sendPage(ctx, visitor, {
        title: 'Tasks',
        about: `The last ${PAGE} videos that were asked for, by all accounts.`,
        body: (
          <Card flush>
            {tasks.length > 0 ? (
              <TaskTable tasks={tasks} names={names} now_ms={now()} />
            ) : (
              <Empty title="No task yet">
                <p>A video that somebody asks for appears here, and how far it is.</p>
                <a class="button" href="/playground">
                  Make one in the Playground
                </a>
              </Empty>
            )}
          </Card>
        ),
      });
    },
  };
}

function TaskTable(props: {
  tasks: readonly Task[];
  names: ReadonlyMap<string, string>;
  now_ms: number;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Tasks">
      <table class="fold">
        <thead>
          <tr>
            <th>Task</th>
            <th>Status</th>
            <th>Account</th>
            <th>Provider</th>
            <th>Begun</th>
            <th class="number">Held</th>
            <th class="number">Charged</th>
          </tr>
        </thead>
        <tbody>
          {props.tasks.map((task) => (
            <TaskRow task={task} account={props.names.get(task.account_id)} now_ms={props.now_ms} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TaskRow(props: { task: Task; account: string | undefined; now_ms: number }): JSX.Element {
  const { task, account } = props;
  const { name, mood } = STATES[task.status];
  const { resolution, duration_seconds, sample_count } = task.call;
  return (
    <tr>
      <td class="lead">
        <strong>{task.model}</strong>
        <div class="hint">
          {sample_count > 1 && `${sample_count} × `}
          {duration_seconds} s, {resolution} · <code>{task.id.slice(0, 13)}…</code>
        </div>
      </td>
      <td class="end">
        <Badge mood={mood}>{name}</Badge>
        {task.error !== null && <div class="hint fault">{task.error}</div>}
      </td>
      <td class="soft" data-label="Account">
        <a href={`/operator/accounts/${encodeURIComponent(task.account_id)}`}>
          {account ?? task.account_id}
        </a>
      </td>
      <td class="soft" data-label="Provider">
        {task.provider}
      </td>
      <td class="soft" data-label="Begun">
        <Ago at_ms={task.created_ms} now_ms={props.now_ms} />
      </td>
      <td class="number soft" data-label="Held">
        <Money nano={task.hold_nano} />
      </td>
      <td class="number" data-label="Charged">
        {task.charge_nano === null ? (
          <span class="faint">not yet</span>
        ) : (
          <Money nano={task.charge_nano} />
        )}
      </td>
    </tr>
  );
}
