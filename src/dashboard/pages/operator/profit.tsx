import type { JSX } from 'preact';
import { isProfitUnknown, unknownCost, type Earnings } from '../../../actions/profit-shapes.js';
import { showProfit, type ProfitGroup, type ProfitSplit } from '../../../actions/profit-show.js';
import { usageRange, wrongDays } from '../../../actions/usage-groups.js';
import { actionCaller, actionServices } from '../../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { formatCount, formatPercent } from '../formatting.js';
import { addressOf, CsvLink } from '../list-page.js';
import { sendPage } from '../page.js';
import { Card, Empty, Figures, Money } from '../parts.js';
import { Table, type Column } from '../table.js';
import { RangeFilter } from '../usage-filters.js';
import { csvPath, readUsageQuery } from '../usage-query.js';

const PATH = '/operator/profit';
const TITLES = {
  day: ['By day', 'Day'],
  model: ['By model', 'Model'],
  provider: ['By provider', 'Provider'],
  account: ['By account', 'Account'],
} as const satisfies Record<ProfitSplit, readonly [string, string]>;

/** A longer table is whole in its CSV file alone. */
const MOST_ROWS = 100;

/** The page of what accounts paid, what upstreams took of it, and the rest. */
export function profitRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'operator',
    answer: async (ctx, visitor) => {
      const now_ms = services.now();
      const query = readUsageQuery(ctx.query);
      const { from = '', to = '' } = query;
      const wrong = wrongDays(query, now_ms);
      const range = wrong ? { ...usageRange({}, now_ms), from, to } : usageRange(query, now_ms);
      const body = (
        <>
          <form class="filters" method="get" action={PATH}>
            <RangeFilter path={PATH} {...{ query, range, now_ms, wrong }} />
            <button>Apply</button>
          </form>
          {!wrong && (await reportBody(ctx, visitor, services))}
        </>
      );
      const about = 'What accounts paid, before refunds, and what upstreams took. Days are of UTC.';
      const page = { title: 'Profit', about, body };
      if (wrong) return sendPage(ctx, visitor, page, wrong.status);
      const actions = <CsvLink path={csvPath({ ...query, by: 'model' }, '/api/profit')} />;
      sendPage(ctx, visitor, { ...page, actions });
    },
  };
}

async function reportBody(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<JSX.Element> {
  const { from, to } = readUsageQuery(ctx.query);
  const days = { ...(from && { from }), ...(to && { to }) };
  const splits = Object.keys(TITLES) as ProfitSplit[];
  const caller = actionCaller(ctx, visitor);
  const reports = await Promise.all(
    splits.map((by) => showProfit.run(actionServices(services), { ...days, by }, caller)),
  );
  const [first] = reports;
  if (!first || first.totals.calls === 0) {
    return (
      <Card flush>
        <Empty title="No call in these days">
          <p>What each call brought appears here.</p>
        </Empty>
      </Card>
    );
  }
  return (
    <>
      <ProfitFigures totals={first.totals} />
      {reports.map(({ by, groups }) => (
        <ProfitTable
          by={by}
          groups={by === 'day' ? groups.toReversed() : groups}
          csv={addressOf('/api/profit', { ...days, by, format: 'csv' })}
        />
      ))}
    </>
  );
}

function ProfitFigures({ totals }: { totals: ProfitGroup }): JSX.Element {
  const { cost_nano, uncollected_nano } = totals;
  const unknown_nano = unknownCost(totals);
  return (
    <Figures
      figures={[
        {
          name: 'Charged',
          value: <Money nano={cost_nano} />,
          note: (
            <>
              <Money nano={uncollected_nano} /> uncollected
            </>
          ),
        },
        { name: 'Upstreams took', value: <Known earnings={totals} figure="upstream_cost_nano" /> },
        { name: 'Profit', value: <Known earnings={totals} figure="profit_nano" /> },
        {
          name: 'Margin',
          value: marginOf(totals),
          note: unknown_nano === 0n ? undefined : <Unknown nano={unknown_nano} />,
        },
      ]}
    />
  );
}

/** The profit as a share of what was charged, where what upstreams took is known. */
function marginOf({ upstream_cost_nano, profit_nano }: Earnings): string {
  const known_nano = upstream_cost_nano + profit_nano;
  return known_nano > 0n ? formatPercent(Number(profit_nano) / Number(known_nano)) : '–';
}

function Known(props: {
  earnings: Earnings;
  figure: 'upstream_cost_nano' | 'profit_nano';
}): JSX.Element {
  const { earnings, figure } = props;
  return isProfitUnknown(earnings) ? <>unknown</> : <Money nano={earnings[figure]} />;
}

function Unknown({ nano }: { nano: bigint }): JSX.Element {
  return (
    <>
      without <Money nano={nano} />, of unknown cost
    </>
  );
}

function ProfitTable(props: {
  by: ProfitSplit;
  groups: readonly ProfitGroup[];
  csv: string;
}): JSX.Element {
  const { by, groups, csv } = props;
  const isLong = groups.length > MOST_ROWS;
  const [title, head] = TITLES[by];
  const columns: Column<ProfitGroup>[] = [
    {
      head,
      class: 'lead breaks',
      cell: ({ group, name = group }) => <strong>{name || 'none'}</strong>,
    },
    {
      head: 'Calls',
      label: 'Calls',
      class: 'number soft',
      cell: ({ calls }) => formatCount(calls),
    },
    {
      head: 'Charged',
      label: 'Charged',
      class: 'number',
      cell: ({ cost_nano }) => <Money nano={cost_nano} />,
    },
    {
      head: 'Upstreams took',
      label: 'Upstreams took',
      class: 'number',
      cell: (group) => <Known earnings={group} figure="upstream_cost_nano" />,
    },
    {
      head: 'Profit',
      label: 'Profit',
      class: 'number',
      cell: (group) => <Known earnings={group} figure="profit_nano" />,
    },
    { head: 'Margin', label: 'Margin', class: 'number soft', cell: marginOf },
  ];
  return (
    <Card
      title={title}
      about={isLong && `The first ${MOST_ROWS} of ${formatCount(groups.length)}.`}
      actions={isLong && <CsvLink path={csv} />}
      flush
    >
      <Table label={title} columns={columns} rows={groups.slice(0, MOST_ROWS)} />
    </Card>
  );
}
