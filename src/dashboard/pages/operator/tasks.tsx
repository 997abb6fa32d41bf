import type { JSX } from 'preact';
import type { Task, TaskStatus } from '../../../store/tasks/task-types.js';
import type { DashboardContext, DashboardServices, Route } from '../../types.js';
import { isMoment, pageOf, readCursor } from '../../../actions/cursor.js';
import { sendPage } from '../page.js';
import { requestPath } from '../requests/scope.js';
import { Ago, Badge, Card, Empty, Money, type StatusColour } from '../parts.js';

const PATH = '/operator/tasks';
const PAGE = 50;
/** The filters that operators need. */
const STATUSES: readonly TaskStatus[] = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED'];

const STATES: Record<TaskStatus, { name: string; colour: StatusColour | undefined }> = {
  SUBMITTING: { name: 'submitting', colour: undefined },
  IN_QUEUE: { name: 'in queue', colour: undefined },
  IN_PROGRESS: { name: 'in progress', colour: undefined },
  COMPLETED: { name: 'completed', colour: 'good' },
  FAILED: { name: 'failed', colour: 'bad' },
};

/** The page with the video tasks of all accounts, newest first. */
export function tasksRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'operator',
    answer: async (ctx, visitor) => {
      const status = STATUSES.find((one) => one === ctx.query['status']);
      sendPage(ctx, visitor, {
        title: 'Tasks',
        about: 'The video tasks of all accounts.',
        actions: <Filter chosen={status} />,
        body: await tasksBody(ctx, status, services),
      });
    },
  };
}

async function tasksBody(
  ctx: DashboardContext,
  status: TaskStatus | undefined,
  { store, now }: DashboardServices,
): Promise<JSX.Element> {
  const { cursor } = ctx.query;
  const after = typeof cursor === 'string' ? readCursor(cursor, isMoment) : undefined;
  const tasks = await store.tasks.list({
    limit: PAGE + 1,
    ...(status && { status }),
    ...(after && { before: { created_ms: after[0], id: after[1] } }),
  });
  const { rows, next_cursor } = pageOf(tasks, PAGE, ({ created_ms, id }) => [created_ms, id]);
  const ids = [...new Set(rows.map(({ account_id }) => account_id))];
  const [accounts, records] = await Promise.all([
    Promise.all(ids.map((id) => store.account(id))),
    Promise.all(rows.map(({ id }) => store.requests.one(id))),
  ]);
  const recorded = new Set(records.map((record) => record?.id));
  const names = new Map(accounts.map((account) => [account?.id ?? '', account?.name ?? '']));
  return (
    <>
      <Card flush>
        {rows.length > 0 ? (
          <TaskTable tasks={rows} names={names} recorded={recorded} now_ms={now()} />
        ) : (
          <NoTask isFiltered={status !== undefined} />
        )}
      </Card>
      {next_cursor !== null && (
        <div class="row">
          <a class="button" href={pathOf({ status, cursor: next_cursor })}>
            Older tasks
          </a>
        </div>
      )}
    </>
  );
}

function pathOf(query: { status?: TaskStatus | undefined; cursor?: string }): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) words.set(name, value);
  return words.size === 0 ? PATH : `${PATH}?${words.toString()}`;
}

function Filter({ chosen }: { chosen: TaskStatus | undefined }): JSX.Element {
  return (
    <nav class="segments" aria-label="Status">
      {[undefined, ...STATUSES].map((status) => (
        <a href={pathOf({ status })} aria-current={status === chosen ? 'true' : undefined}>
          {status === undefined ? 'All' : STATES[status].name}
        </a>
      ))}
    </nav>
  );
}

function NoTask({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  return (
    <Empty title={isFiltered ? 'No such task' : 'No task yet'}>
      <p>Every requested video appears here with its progress.</p>
      <a class="button" href={isFiltered ? PATH : '/playground'}>
        {isFiltered ? 'See all tasks' : 'Make one in the Playground'}
      </a>
    </Empty>
  );
}

function TaskTable(props: {
  tasks: readonly Task[];
  names: ReadonlyMap<string, string>;
  /** The tasks whose request still has a record: a record may be swept before its task. */
  recorded: ReadonlySet<string | undefined>;
  now_ms: number;
}): JSX.Element {
  const { tasks, names, recorded, now_ms } = props;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Tasks">
      <table class="fold">
        <thead>
          <tr>
            <th>Task</th>
            <th>Status</th>
            <th>Account</th>
            <th>Provider</th>
            <th>Submitted</th>
            <th class="number">Held</th>
            <th class="number">Charged</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <TaskRow
              task={task}
              account={names.get(task.account_id)}
              isRecorded={recorded.has(task.id)}
              now_ms={now_ms}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TaskRow(props: {
  task: Task;
  account: string | undefined;
  isRecorded: boolean;
  now_ms: number;
}): JSX.Element {
  const { task, account, isRecorded } = props;
  const model = <strong>{task.model}</strong>;
  const { name, colour } = STATES[task.status];
  const { resolution, duration_seconds, sample_count } = task.call;
  return (
    <tr>
      <td class="lead">
        {isRecorded ? (
          <a href={requestPath({ path: '/operator/requests' }, task.id)}>{model}</a>
        ) : (
          model
        )}
        <div class="hint">
          {sample_count > 1 && `${sample_count} × `}
          {duration_seconds} s, {resolution} · <code>{task.id.slice(0, 13)}…</code>
        </div>
        {task.error !== null && <div class="hint fault">{task.error}</div>}
      </td>
      <td class="end">
        <Badge colour={colour}>{name}</Badge>
      </td>
      <td class="soft breaks" data-label="Account">
        <a href={`/operator/accounts/${encodeURIComponent(task.account_id)}`}>
          {account ?? task.account_id}
        </a>
      </td>
      <td class="soft breaks" data-label="Provider">
        {task.provider}
      </td>
      <td class="soft" data-label="Submitted">
        <Ago at_ms={task.created_ms} now_ms={props.now_ms} />
      </td>
      <td class="number soft" data-label="Held">
        <Money nano={task.hold_nano} />
      </td>
      <td class="number" data-label={task.status === 'FAILED' ? undefined : 'Charged'}>
        <Charged task={task} />
      </td>
    </tr>
  );
}

const UNCHARGED: Partial<Record<TaskStatus, string>> = {
  COMPLETED: 'when fetched',
  FAILED: 'not charged',
};

/** A task is charged when its result is fetched; one that failed never is. */
function Charged({ task: { charge_nano, status } }: { task: Task }): JSX.Element {
  if (charge_nano !== null) return <Money nano={charge_nano} />;
  return <span class="faint">{UNCHARGED[status] ?? 'not yet'}</span>;
}
