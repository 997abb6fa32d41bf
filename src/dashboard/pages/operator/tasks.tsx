import type { JSX } from 'preact';
import type { Task, TaskStatus } from '../../../store/tasks/task-types.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { listTasks } from '../../../actions/task-list.js';
import { operatorCaller } from '../../action-context.js';
import { sendListCsv, wantsCsv } from '../../csv-answer.js';
import { accountNames } from '../account-names.js';
import { addressOf, ListPage, readListRows } from '../list-page.js';
import { sendPage } from '../page.js';
import { requestPath } from '../requests/scope.js';
import { Ago, Badge, Empty, Money, type StatusColour } from '../parts.js';
import { capitalize } from '../formatting.js';
import type { Column } from '../table.js';
import { accountPath } from './account-actions.js';

const PATH = '/operator/tasks';
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
      const status = STATUSES.find((one) => one === ctx.query.status);
      if (wantsCsv(ctx)) {
        const caller = operatorCaller(ctx, visitor);
        return sendListCsv(listTasks, { ...(status && { status }) }, caller, ctx, services);
      }
      sendPage(ctx, visitor, {
        title: 'Tasks',
        about: 'The video tasks of all accounts.',
        actions: <Filter chosen={status} />,
        body: await tasksBody(ctx, visitor, status, services),
      });
    },
  };
}

async function tasksBody(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  status: TaskStatus | undefined,
  services: DashboardServices,
): Promise<JSX.Element> {
  const list = await readListRows(
    listTasks,
    { ...(status && { status }) },
    operatorCaller(ctx, visitor),
    ctx,
    services,
  );
  const [names, records] = await Promise.all([
    accountNames(list.rows, services),
    Promise.all(list.rows.map(({ id }) => services.store.requests.one(id))),
  ]);
  // The record of a request may be swept before its task.
  const recorded = new Set(records.map((record) => record?.id));
  return (
    <ListPage
      {...list}
      label="Tasks"
      columns={columnsOf(names, recorded, services.now())}
      empty={<NoTask isFiltered={status !== undefined} />}
      pathTo={(words) => addressOf(PATH, { status, ...words })}
      first="Newest tasks"
      next="Older tasks"
    />
  );
}

function Filter({ chosen }: { chosen: TaskStatus | undefined }): JSX.Element {
  return (
    <nav class="segments" aria-label="Status">
      {[undefined, ...STATUSES].map((status) => (
        <a href={addressOf(PATH, { status })} aria-current={status === chosen ? 'true' : undefined}>
          {status === undefined ? 'All' : capitalize(STATES[status].name)}
        </a>
      ))}
    </nav>
  );
}

function NoTask({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  return (
    <Empty
      title={isFiltered ? 'No such task' : 'No task yet'}
      link={
        isFiltered
          ? { href: PATH, text: 'See all tasks' }
          : { href: '/playground', text: 'Make one in the Playground' }
      }
    >
      <p>Every requested video appears here with its progress.</p>
    </Empty>
  );
}

function columnsOf(
  names: ReadonlyMap<string, string>,
  recorded: ReadonlySet<string | undefined>,
  now_ms: number,
): Column<Task>[] {
  return [
    {
      head: 'Task',
      class: 'lead',
      cell: (task) => <TaskLead task={task} isRecorded={recorded.has(task.id)} />,
    },
    {
      head: 'Status',
      class: 'end',
      cell: ({ status }) => <Badge colour={STATES[status].colour}>{STATES[status].name}</Badge>,
    },
    {
      head: 'Account',
      class: 'soft breaks',
      label: 'Account',
      cell: ({ account_id }) => (
        <a href={accountPath(account_id)}>{names.get(account_id) ?? account_id}</a>
      ),
    },
    {
      head: 'Provider',
      class: 'soft breaks',
      label: 'Provider',
      cell: ({ provider }) => provider,
    },
    {
      head: 'Submitted',
      class: 'soft',
      label: 'Submitted',
      cell: ({ created_ms }) => <Ago at_ms={created_ms} now_ms={now_ms} />,
    },
    {
      head: 'Held',
      class: 'number soft',
      label: 'Held',
      cell: ({ hold_nano }) => <Money nano={hold_nano} />,
    },
    {
      head: 'Charged',
      class: 'number',
      label: ({ status }) => (status === 'FAILED' ? undefined : 'Charged'),
      cell: (task) => <Charged task={task} />,
    },
  ];
}

function TaskLead({ task, isRecorded }: { task: Task; isRecorded: boolean }): JSX.Element {
  const { id, error } = task;
  const { resolution, duration_seconds, sample_count } = task.call;
  const model = <strong>{task.model}</strong>;
  return (
    <>
      {isRecorded ? <a href={requestPath({ path: '/operator/requests' }, id)}>{model}</a> : model}
      <div class="hint">
        {sample_count > 1 && `${sample_count} × `}
        {duration_seconds} s, {resolution} · <code>{id.slice(0, 13)}…</code>
      </div>
      {error !== null && <div class="wrong">{error}</div>}
    </>
  );
}

const UNCHARGED: Partial<Record<TaskStatus, string>> = {
  COMPLETED: 'when fetched',
  FAILED: 'not charged',
};

/** A task is charged when its result is fetched; one that failed never is. */
function Charged({ task: { charge_nano, status } }: { task: Task }): JSX.Element {
  if (charge_nano !== null) return <Money nano={charge_nano} />;
  return <span class="hint">{UNCHARGED[status] ?? 'not yet'}</span>;
}
