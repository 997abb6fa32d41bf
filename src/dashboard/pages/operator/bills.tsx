import type { JSX } from 'preact';
import { parseDollars } from '../../../lib/money.js';
import type {
  Reconciliation,
  ReportedDay,
  ReportedModel,
  ReportedSide,
  UnmatchedName,
} from '../../../reconcile/report.js';
import type { DashboardServices, Route } from '../../types.js';
import { keptBills } from '../../views/bills.js';
import { formatCount } from '../formatting.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Card, Empty, Money } from '../parts.js';
import { Table, type Column } from '../table.js';

/** The page with the last comparison of each provider's bill with the ledger. */
export function billsRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: '/operator/bills',
    access: 'operator',
    answer: async (ctx, visitor) => {
      const bills = await keptBills(services);
      const now_ms = services.now();
      sendPage(ctx, visitor, {
        title: 'Bills',
        about: "What providers billed beside the ledger's costs, by model and day of UTC.",
        body:
          bills.length > 0 ? (
            <div class="stack">
              {bills.map((bill) => (
                <Bill bill={bill} now_ms={now_ms} />
              ))}
            </div>
          ) : (
            <NoBill />
          ),
      });
    },
  };
}

function NoBill(): JSX.Element {
  return (
    <Empty title="No bill yet">
      <p>
        <code>tollgate reconcile FILE</code> compares a provider's export of usage or costs with the
        ledger, and the last comparison of each provider appears here.
      </p>
      <a class="button" href="/docs/bills">
        How to get an export
      </a>
    </Empty>
  );
}

function Bill({ bill, now_ms }: { bill: Reconciliation; now_ms: number }): JSX.Element {
  const { providers, first_day, last_day, made, within, tolerance_percent } = bill;
  const about = (
    <>
      {first_day} to {last_day}, compared <Ago at_ms={Date.parse(made)} now_ms={now_ms} />
    </>
  );
  const verdict = (
    <Badge colour={within ? 'good' : 'bad'}>
      {within ? 'within' : 'beyond'} {tolerance_percent} %
    </Badge>
  );
  const days = bill.models.flatMap((model) =>
    model.days.map((day) => ({ ...day, model: model.model })),
  );
  return (
    <Card title={providers.join(', ')} about={about} actions={verdict} flush>
      <Table label={`Models of ${providers.join(', ')}`} columns={MODELS} rows={bill.models} />
      <Causes models={bill.models} />
      {bill.unmatched.length > 0 && (
        <Table label="Names without a model" columns={UNMATCHED} rows={bill.unmatched} />
      )}
      {days.length > 0 && (
        <details class="body">
          <summary>Days that differ</summary>
          <Table label="Days that differ" columns={DAYS} rows={days} />
        </details>
      )}
    </Card>
  );
}

function Causes({ models }: { models: readonly ReportedModel[] }): JSX.Element | null {
  const told = models.flatMap(({ model, causes }) => causes.map((cause) => ({ model, ...cause })));
  if (told.length === 0) return null;
  return (
    <ul class="body">
      {told.map(({ model, text, difference }) => (
        <li>
          <strong>{model}</strong>: {difference !== null && <Dollars text={difference} />} {text}
        </li>
      ))}
    </ul>
  );
}

function Dollars({ text }: { text: string | null }): JSX.Element {
  return text === null ? <>–</> : <Money nano={parseDollars(text)} />;
}

function tokensIn({ tokens }: ReportedSide): string {
  if (tokens === null) return '–';
  return formatCount(Object.values(tokens).reduce((sum, count) => sum + count, 0));
}

const COMPARED: readonly Column<Omit<ReportedDay, 'day'>>[] = [
  {
    head: 'Tokens billed',
    class: 'number',
    label: 'Tokens billed',
    cell: ({ bill }) => tokensIn(bill),
  },
  {
    head: 'In the ledger',
    class: 'number',
    label: 'Tokens in the ledger',
    cell: ({ ledger }) => tokensIn(ledger),
  },
  {
    head: 'Billed',
    class: 'number',
    label: 'Billed',
    cell: ({ bill }) => <Dollars text={bill.cost} />,
  },
  {
    head: 'Ledger',
    class: 'number',
    label: 'Ledger',
    cell: ({ ledger }) => <Dollars text={ledger.cost} />,
  },
  {
    head: 'Difference',
    class: 'number',
    label: 'Difference',
    cell: ({ difference, percent }) => (
      <>
        <Dollars text={difference} /> <span class="hint">{percent} %</span>
      </>
    ),
  },
];

const MODELS: readonly Column<ReportedModel>[] = [
  {
    head: 'Model',
    class: 'lead breaks',
    cell: ({ model, names }) => (
      <>
        <strong>{model}</strong>
        {names.length > 0 && <div class="hint">{names.join(', ')}</div>}
      </>
    ),
  },
  ...COMPARED,
];

const DAYS: readonly Column<ReportedDay & { model: string }>[] = [
  { head: 'Day', class: 'lead', cell: ({ day }) => day },
  { head: 'Model', class: 'breaks', label: 'Model', cell: ({ model }) => model },
  ...COMPARED,
];

const UNMATCHED: readonly Column<UnmatchedName>[] = [
  { head: 'No model has this name', class: 'lead breaks', cell: ({ name }) => name || '(none)' },
  {
    head: 'It could be',
    class: 'soft breaks',
    label: ({ several }) => (several.length > 0 ? 'It could be' : undefined),
    cell: ({ several }) => several.join(' or '),
  },
  { head: 'Billed', class: 'number', label: 'Billed', cell: ({ cost }) => <Dollars text={cost} /> },
];
