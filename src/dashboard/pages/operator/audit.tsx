import type { ComponentChildren, JSX } from 'preact';
import type { AuditEntry } from '../../../store/audit/audit-log.js';
import { actionCaller, actionServices } from '../../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { listChanges } from '../../../actions/audit-list.js';
import { isName, isNumber, pageOf, readCursor } from '../../../actions/cursor.js';
import { Field } from '../fields.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Card, Empty } from '../parts.js';
import { accountPath } from './account-actions.js';
import { AuditValues } from './audit-values.js';
import { TOKENS } from './tokens.js';
import { NAME_CHARACTERS } from '../../../actions/action.js';

const PATH = '/operator/audit';
const PAGE = 50;

/** The page with every change to accounts, keys, money and tokens, newest first. */
export function auditPageRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'operator',
    answer: async (ctx, visitor) => {
      sendPage(ctx, visitor, {
        title: 'Audit log',
        about: 'Changes to accounts, keys, credit and tokens. Entries are kept for ever.',
        body: await body(ctx, visitor, services),
      });
    },
  };
}

async function body(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<JSX.Element> {
  const { cursor, account: typed } = ctx.query;
  const wanted = typeof typed === 'string' && isName(typed) ? typed.slice(0, NAME_CHARACTERS) : '';
  const known = wanted === '' ? undefined : await services.store.account(wanted);
  const account = wanted === '' ? {} : { account: known?.id ?? wanted };
  const isLater = typeof cursor === 'string' && cursor !== '';
  const place = { limit: PAGE + 1, ...(isLater && { after: readCursor(cursor, isNumber) }) };
  const caller = actionCaller(ctx, visitor);
  const entries = await listChanges.rows(actionServices(services), account, place, caller);
  const { rows, next_cursor } = pageOf(entries, PAGE, ({ id }) => id);
  const ids = [...new Set(rows.flatMap(({ account_id }) => account_id ?? []))];
  const accounts = await Promise.all(ids.map((id) => services.store.account(id)));
  const names = new Map(accounts.flatMap((one) => (one ? [[one.id, one.name] as const] : [])));
  return (
    <>
      <Filter account={known?.name ?? wanted} />
      <Card flush>
        {rows.length > 0 ? (
          <AuditTable entries={rows} names={names} now_ms={services.now()} />
        ) : (
          <NoChange is_filtered={wanted !== ''} />
        )}
      </Card>
      {next_cursor !== null && (
        <div class="row">
          <a
            class="button"
            href={`${PATH}?${new URLSearchParams({ ...account, cursor: next_cursor })}`}
          >
            Older changes
          </a>
        </div>
      )}
    </>
  );
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
    <Empty title={is_filtered ? 'No change of such an account' : 'No change yet'}>
      <p>Changes by operators, their programs and the command line appear here.</p>
      {is_filtered && (
        <a class="button" href={PATH}>
          See all changes
        </a>
      )}
    </Empty>
  );
}

function AuditTable(props: {
  entries: readonly AuditEntry[];
  names: ReadonlyMap<string, string>;
  now_ms: number;
}): JSX.Element {
  const { entries, names, now_ms } = props;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Changes">
      <table class="fold audit">
        <thead>
          <tr>
            <th>Change</th>
            <th>Time</th>
            <th>By</th>
            <th>Subject</th>
            <th>Before</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr>
              <td class="lead">
                <strong>{breakable(entry.action)}</strong>
              </td>
              <td class="soft end">
                <Ago at_ms={entry.time_ms} now_ms={now_ms} />
              </td>
              <td data-label="By">
                <By {...entry} />
              </td>
              <td class="soft breaks" data-label="Subject">
                <Subject entry={entry} names={names} />
              </td>
              <td class="soft breaks" data-label={entry.before ? 'Before' : undefined}>
                <AuditValues values={entry.before} />
              </td>
              <td class="breaks" data-label={entry.after ? 'After' : undefined}>
                <AuditValues values={entry.after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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
