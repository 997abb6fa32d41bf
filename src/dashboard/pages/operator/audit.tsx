import type { ComponentChildren, JSX } from 'preact';
import type { AuditEntry } from '../../../store/audit/audit-log.js';
import { operatorCaller } from '../../action-context.js';
import { sendListCsv, wantsCsv } from '../../csv-answer.js';
import { accountNames } from '../account-names.js';
import { addressOf, ListPage, readListRows } from '../list-page.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { listChanges } from '../../../actions/audit-list.js';
import { isName } from '../../../actions/cursor.js';
import { Field } from '../fields.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Empty } from '../parts.js';
import type { Column } from '../table.js';
import { accountPath } from './account-actions.js';
import { AuditValues } from './audit-values.js';
import { TOKENS } from './tokens.js';
import { NAME_CHARACTERS } from '../../../actions/action.js';

const PATH = '/operator/audit';

/** The page with every change to accounts, keys, money and tokens, newest first. */
export function auditPageRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'operator',
    answer: (ctx, visitor) => show(ctx, visitor, services),
  };
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<void> {
  const { account: typed } = ctx.query;
  const wanted = typeof typed === 'string' && isName(typed) ? typed.slice(0, NAME_CHARACTERS) : '';
  const known = wanted === '' ? undefined : await services.store.account(wanted);
  const account = wanted === '' ? {} : { account: known?.id ?? wanted };
  const caller = operatorCaller(ctx, visitor);
  if (wantsCsv(ctx)) return sendListCsv(listChanges, account, caller, ctx, services);
  const list = await readListRows(listChanges, account, caller, ctx, services);
  const names = await accountNames(list.rows, services);
  const body = (
    <>
      <Filter account={known?.name ?? wanted} />
      <ListPage
        {...list}
        label="Changes"
        columns={columnsOf(names, services.now())}
        empty={<NoChange is_filtered={wanted !== ''} />}
        pathTo={(words) => addressOf(PATH, { ...account, ...words })}
        first="Newest changes"
        next="Older changes"
      />
    </>
  );
  const about = 'Changes to accounts, keys, credit and tokens. Entries are kept for ever.';
  sendPage(ctx, visitor, { title: 'Audit log', about, body });
}

function Filter({ account }: { account: string }): JSX.Element {
  return (
    <form class="filters" method="get" action={PATH}>
      <Field
        label="Account"
        name="account"
        input={{ value: account, placeholder: 'Name or ID', maxLength: NAME_CHARACTERS }}
      />
      <button>Apply</button>
    </form>
  );
}

function NoChange({ is_filtered }: { is_filtered: boolean }): JSX.Element {
  return (
    <Empty
      title={is_filtered ? 'No change of such an account' : 'No change yet'}
      link={is_filtered ? { href: PATH, text: 'See all changes' } : undefined}
    >
      <p>Changes by operators, their programs and the command line appear here.</p>
    </Empty>
  );
}

function columnsOf(names: ReadonlyMap<string, string>, now_ms: number): Column<AuditEntry>[] {
  return [
    {
      head: 'Change',
      class: 'lead',
      cell: ({ action }) => <strong>{breakable(action)}</strong>,
    },
    {
      head: 'Time',
      class: 'soft end',
      cell: ({ time_ms }) => <Ago at_ms={time_ms} now_ms={now_ms} />,
    },
    { head: 'By', label: 'By', cell: (entry) => <By {...entry} /> },
    {
      head: 'Subject',
      class: 'soft breaks',
      label: 'Subject',
      cell: (entry) => <Subject entry={entry} names={names} />,
    },
    {
      head: 'Before',
      class: 'soft breaks',
      label: ({ before }) => (before ? 'Before' : undefined),
      cell: ({ before }) => <AuditValues values={before} />,
    },
    {
      head: 'After',
      class: 'breaks',
      label: ({ after }) => (after ? 'After' : undefined),
      cell: ({ after }) => <AuditValues values={after} />,
    },
  ];
}

/** A dotted name that breaks after its dots and underscores only. */
function breakable(name: string): ComponentChildren {
  return name.split(/(?<=[._])/u).flatMap((part) => [part, <wbr />]);
}

function By({ actor: { kind, id, name } }: AuditEntry): JSX.Element {
  return (
    <span title={id ?? undefined}>
      <Badge>{kind}</Badge> {name ?? id ?? ''}
    </span>
  );
}

/** The changed account, key or token. */
function Subject(props: { entry: AuditEntry; names: ReadonlyMap<string, string> }): JSX.Element {
  const { subject, account_id, action } = props.entry;
  if (action.startsWith('token.')) {
    return (
      <a href={TOKENS}>
        <code>{subject}</code>
      </a>
    );
  }
  if (account_id === null) return <code>{subject}</code>;
  return (
    <>
      <a href={accountPath(account_id)}>{props.names.get(account_id) ?? account_id}</a>
      {subject !== account_id && (
        <div class="hint">
          <code>{subject}</code>
        </div>
      )}
    </>
  );
}
