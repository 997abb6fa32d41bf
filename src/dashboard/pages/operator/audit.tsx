import type { JSX } from 'preact';
import type { AuditEntry } from '../../../store/audit/audit-log.js';
import type { DashboardContext, DashboardServices, Route } from '../../types.js';
import { auditPage } from '../../views/audit.js';
import { sendPage } from '../page.js';
import { Badge, Card, Empty, Ago } from '../parts.js';
import { accountPath } from './account-actions.js';

const PATH = '/operator/audit';

/** The page with every change to accounts, keys, money and tokens, newest first. */
export function auditPageRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    who: 'operator',
    answer: async (ctx, visitor) => {
      sendPage(ctx, visitor, {
        title: 'Audit log',
        about: 'Who changed accounts, keys, credit and tokens. It is kept for ever.',
        body: await body(ctx, services),
      });
    },
  };
}

async function body(ctx: DashboardContext, services: DashboardServices): Promise<JSX.Element> {
  const cursor = wordOf(ctx, 'cursor');
  const account = wordOf(ctx, 'account');
  const { rows, next_cursor } = await auditPage(services, { ...cursor, ...account });
  return (
    <>
      <Card flush>
        {rows.length > 0 ? (
          <AuditTable entries={rows} now_ms={services.now()} />
        ) : (
          <Empty title="No change">
            <p>What operators, their programs and the command line change appears here.</p>
          </Empty>
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

function wordOf<Name extends string>(
  { query }: DashboardContext,
  name: Name,
): { [N in Name]?: string } {
  const word = query[name];
  if (typeof word !== 'string' || word === '') return {};
  return { [name]: word } as { [N in Name]?: string };
}

function AuditTable(props: { entries: readonly AuditEntry[]; now_ms: number }): JSX.Element {
  const { entries, now_ms } = props;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Changes">
      <table class="fold">
        <thead>
          <tr>
            <th>Time</th>
            <th>Change</th>
            <th>By</th>
            <th>Subject</th>
            <th>Before</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr>
              <td class="soft">
                <Ago at_ms={entry.time_ms} now_ms={now_ms} />
              </td>
              <td class="lead">
                <strong>{entry.action}</strong>
              </td>
              <td data-label="By">
                <By {...entry} />
              </td>
              <td class="soft" data-label="Subject">
                <Subject {...entry} />
              </td>
              <td class="soft" data-label="Before">
                {valuesShown(entry.before)}
              </td>
              <td class="end" data-label="After">
                {valuesShown(entry.after)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function By({ actor: { kind, id, name } }: AuditEntry): JSX.Element {
  return (
    <span title={id ?? undefined}>
      <Badge>{kind}</Badge> {name ?? id ?? ''}
    </span>
  );
}

function Subject({ subject, account_id }: AuditEntry): JSX.Element {
  if (account_id === null) return <code>{subject}</code>;
  return (
    <a href={accountPath(account_id)}>
      <code>{subject}</code>
    </a>
  );
}

/** `balance 1.00, reference invoice-7` */
function valuesShown(values: AuditEntry['before']): string {
  if (values === null) return '–';
  return Object.entries(values)
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join('; ') : String(value)}`)
    .join(', ');
}
