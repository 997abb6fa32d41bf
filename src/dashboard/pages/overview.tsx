import type { JSX } from 'preact';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { usageReport, type UsageReport } from '../views/usage-report.js';
import { BarChart, Legend } from './charts.js';
import { CreditHint } from './credit-hint.js';
import { requireSession } from './guard.js';
import { Icon } from './icons.js';
import { ledgerColumns } from './ledger-table.js';
import { Table } from './table.js';
import { sendPage } from './page.js';
import { Card, Code, Empty, Figures, Money } from './parts.js';
import { snippet } from './snippet.js';
import { FIGURES_OF, seriesOf } from './series.js';
import { pluralize, formatCount, formatPercent } from './formatting.js';
import type { Account } from '../../store/accounts/accounts.js';
import type { Key } from '../../store/keys/keys.js';
import type { LedgerEntry } from '../../store/ledger/ledger-columns.js';

const RECENT = 10;

/** The balance, spend and last calls of an account; for a new account, its first call. */
export function overviewRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: '/',
    access: 'session',
    answer: async (ctx, visitor) => {
      const person = requireSession(visitor);
      sendPage(ctx, visitor, {
        title: 'Overview',
        actions: (
          <a class="button" href="/playground">
            <Icon name="playground" />
            Open Playground
          </a>
        ),
        body: await overview(person, services, ctx),
      });
    },
  };
}

async function overview(
  visitor: Visitor,
  services: DashboardServices,
  ctx: DashboardContext,
): Promise<JSX.Element> {
  const { store, now } = services;
  const { account_id, suspended } = visitor.session;
  const [account, report, keys, entries] = await Promise.all([
    store.account(account_id),
    usageReport({ account_id, by: 'day', charted: FIGURES_OF.spend }, services),
    store.keys(account_id),
    store.ledger(account_id, { before: Number.MAX_SAFE_INTEGER, limit: RECENT }),
  ]);
  ctx.assert(account, 404);
  const hasCalled = report.totals.calls > 0 || entries.some(({ kind }) => kind === 'charge');
  return (
    <>
      <CreditHint account={account} visitor={visitor} />
      <Balance account={account} report={report} />
      {hasCalled && <Charts report={report} />}
      {!hasCalled && suspended && <Suspended name={account.name} />}
      {!hasCalled && !suspended && <FirstCall services={services} keys={keys} />}
      {entries.length > 0 && <Recent entries={entries} keys={keys} now_ms={now()} />}
    </>
  );
}

function Balance(props: { account: Account; report: UsageReport }): JSX.Element {
  const { balance_nano, held_nano } = props.account;
  const { calls, failed, cost_nano } = props.report.totals;
  return (
    <Figures
      figures={[
        {
          name: 'Available',
          value: <Money nano={balance_nano - held_nano} />,
          note: 'to spend now',
        },
        {
          name: 'Balance',
          value: <Money nano={balance_nano} />,
          note: 'what is held is part of it',
        },
        { name: 'Held', value: <Money nano={held_nano} />, note: 'for in-flight calls' },
        {
          name: 'Charged, 30 days',
          value: <Money nano={cost_nano} />,
          note: calls === 0 ? 'no calls yet' : pluralize(calls, 'call'),
        },
        {
          name: 'Failed, 30 days',
          value: <a href="/requests?status=failed">{formatCount(failed)}</a>,
          note: calls === 0 ? 'no calls yet' : `${formatPercent(failed / calls)} of all calls`,
        },
      ]}
    />
  );
}

function Charts({ report: { bars, range } }: { report: UsageReport }): JSX.Element {
  const series = seriesOf('spend', bars, range, 'day');
  return (
    <div class="split">
      <Card
        title="Charged by day"
        about="The last 30 days, in UTC"
        actions={<a href="/usage">All usage</a>}
      >
        <BarChart series={series} title="Charged by day" />
      </Card>
      <Card title="By model" about="The same days">
        {series.parts.length > 0 ? (
          <Legend series={series} />
        ) : (
          <p class="soft">Nothing was spent in these days.</p>
        )}
      </Card>
    </div>
  );
}

function Recent(props: {
  entries: readonly LedgerEntry[];
  keys: readonly Key[];
  now_ms: number;
}): JSX.Element {
  return (
    <Card
      title="Recent activity"
      actions={
        <span>
          <a href="/ledger">Ledger</a> · <a href="/requests">All requests</a>
        </span>
      }
      flush
    >
      <Table
        label="Activity"
        columns={ledgerColumns({ ...props, requests: '/requests' })}
        rows={props.entries}
      />
    </Card>
  );
}

function Suspended({ name }: { name: string }): JSX.Element {
  return (
    <Card title="Your account is suspended">
      <p>
        Every call with one of its API keys is answered with 403 <code>account_suspended</code>, and
        you cannot create new keys. The balance, the usage and the ledger stay as they are.
      </p>
      <p>
        Ask an operator of this gateway to resume the account <code>{name}</code>. Its keys work
        again from that moment on.
      </p>
    </Card>
  );
}

function FirstCall(props: { services: DashboardServices; keys: readonly Key[] }): JSX.Element {
  const { configuration } = props.services;
  const model = [...configuration.models.values()].find(({ capabilities }) =>
    capabilities.has('chat'),
  );
  const hasKey = props.keys.some(({ revoked_ms }) => revoked_ms === null);
  return (
    <Card
      title="Make your first call"
      about="What it costs appears here as soon as it is answered."
    >
      {!model && <Empty title="No model answers chat yet">{NO_MODEL}</Empty>}
      {model && (
        <div class="stack">
          <p class="soft">
            1. {hasKey ? 'Take one of your API keys, or ' : 'You have no API key yet: '}
            <a href="/settings/keys/new">create {hasKey ? 'a new one' : 'one'}</a>, and put it into
            your shell: <code>export TOLLGATE_API_KEY=tg-…</code>
          </p>
          <p class="soft">
            2. Paste this, or try the same in the <a href="/playground">playground</a>:
          </p>
          <Code label="curl" text={snippet('curl', model, configuration.public_url)} />
        </div>
      )}
    </Card>
  );
}

const NO_MODEL = (
  <p>
    Models are declared in gateway.yaml. <a href="/models">See what there is</a>.
  </p>
);
