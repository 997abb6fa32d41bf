import type { JSX } from 'preact';
import type { DashboardContext, DashboardServices, Route } from '../types.js';
import type { LatencyRow } from '../../store/requests/request-types.js';
import type { GatewayError } from '../../core/errors.js';
import type { Span } from '../../actions/moments.js';
import { usageRange, wrongDays, type Grouping } from '../../actions/usage-groups.js';
import { paceOf, usageReport, type UsageReport } from '../views/usage-report.js';
import { BarChart, Legend } from './charts.js';
import { requireSession } from './guard.js';
import { CsvLink } from './list-page.js';
import { sendPage } from './page.js';
import { Card, Empty, Notice, TRY_PLAYGROUND } from './parts.js';
import { FIGURES_OF, latencySeries, MEASURES, seriesOf, type Series } from './series.js';
import { MEASURE_NAMES, UsageFigures } from './usage-figures.js';
import { UsageFilters } from './usage-filters.js';
import { UsageTable } from './usage-table.js';
import { csvPath, isFiltered, readUsageQuery, usagePath, type UsageQuery } from './usage-query.js';

const ABOUT = 'Your usage and its cost. Days begin at midnight UTC.';
const CUT =
  'Usage by model and key together is shown for the last 31 days at most, and for fewer days ' +
  'with very many calls. These are the last days of your range.';
const CLEAR = { href: '/usage', text: 'Clear the filter' };
const GROUPINGS: Record<Grouping, string> = {
  day: 'By time',
  model: 'By model',
  key: 'By key',
  agent: 'By agent',
};

/** The page of spend, calls, tokens, errors and latencies by time, model, key or agent. */
export function usageRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: '/usage',
    access: 'session',
    answer: async (ctx, visitor) => {
      const { session } = requireSession(visitor);
      const query = readUsageQuery(ctx.query);
      const page = { title: 'Usage', about: ABOUT };
      const wrong = wrongDays(query, services.now());
      if (wrong !== undefined) {
        const body = await invalidFilterBody(query, session.account_id, services, wrong);
        sendPage(ctx, visitor, { ...page, body }, wrong.status);
        return;
      }
      const body = await usageBody(query, session.account_id, services, ctx);
      sendPage(ctx, visitor, { ...page, actions: <CsvLink path={csvPath(query)} />, body });
    },
  };
}

/** The page of an invalid range: the filter as it was sent, with its error. */
async function invalidFilterBody(
  query: UsageQuery,
  account_id: string,
  { store, now, configuration: { models } }: DashboardServices,
  wrong: GatewayError,
): Promise<JSX.Element> {
  const { from = '', to = '' } = query;
  const keys = await store.keys(account_id);
  const range = { ...usageRange({}, now()), from, to };
  return (
    <>
      <UsageFilters
        {...{ query, range, keys, wrong }}
        models={[...models.keys()]}
        agents={[]}
        now_ms={now()}
      />
      <Card flush>
        <Empty title="The filter cannot be read" link={CLEAR}>
          <p>Correct the filter or clear it to see the usage.</p>
        </Empty>
      </Card>
    </>
  );
}

async function usageBody(
  query: UsageQuery,
  account_id: string,
  services: DashboardServices,
  ctx: DashboardContext,
): Promise<JSX.Element> {
  const { store, now, configuration } = services;
  const { from, to, model, key: key_id, agent, by, show } = query;
  const charted = FIGURES_OF[show];
  const reportQuery = { account_id, from, to, model, key_id, agent, by, charted };
  const [report, account, keys] = await Promise.all([
    usageReport(reportQuery, services),
    store.account(account_id),
    store.keys(account_id),
  ]);
  ctx.assert(account, 404);
  const pace = await paceOf(account, services);
  const { range, rows, totals, is_cut } = report;
  const used = await namesIn(range, account_id, store);
  const models = new Set([...configuration.models.keys(), ...used.models]);
  return (
    <>
      <UsageFilters
        {...{ query, range, keys }}
        models={[...models]}
        agents={[...used.agents]}
        now_ms={now()}
      />
      {is_cut && <Notice>{CUT}</Notice>}
      <UsageFigures query={query} report={report} account={account} pace={pace} />
      <ChartCard query={query} series={await chartOf(query, account_id, report, services)} />
      <Card title={GROUPINGS[by]} actions={<Groupings query={query} />} flush>
        {totals.calls > 0 ? (
          <UsageTable rows={rows} by={by} period={report.period} keys={keys} />
        ) : (
          <Nothing isFiltered={isFiltered(query)} />
        )}
      </Card>
    </>
  );
}

async function chartOf(
  { show }: UsageQuery,
  account_id: string,
  { range, period, bars, latency }: UsageReport,
  { store }: DashboardServices,
): Promise<Series> {
  if (show !== 'latency') return seriesOf(show, bars, range, period);
  const query = { ...range, account_id, by: ['start_ms'], period } as const;
  const rows: LatencyRow[] = await store.requests.latencies(query);
  return latencySeries(rows, latency, range, period);
}

/** The models that were called in a range, and the programs that called them. */
async function namesIn(
  range: Span,
  account_id: string,
  { requests }: DashboardServices['store'],
): Promise<{ models: ReadonlySet<string>; agents: ReadonlySet<string> }> {
  const by = ['model', 'agent'] as const;
  const rows = await requests.totals({ ...range, account_id, period: 'day', by, figures: [] });
  return {
    models: new Set(rows.flatMap(({ model }) => model || [])),
    agents: new Set(rows.flatMap(({ agent }) => agent || [])),
  };
}

function ChartCard({ query, series }: { query: UsageQuery; series: Series }): JSX.Element {
  const { show } = query;
  const title = `${MEASURE_NAMES[show]} by ${series.period}`;
  const isOfAll = show === 'latency' && isFiltered(query);
  return (
    <Card
      title={title}
      about={isOfAll ? 'Of all calls: latencies are not split by model, key or agent' : undefined}
      actions={<Measures query={query} />}
    >
      <div class={series.parts.length > 0 ? 'split' : undefined}>
        <BarChart series={series} title={title} />
        {series.parts.length > 0 && <Legend series={series} />}
      </div>
    </Card>
  );
}

function Measures({ query }: { query: UsageQuery }): JSX.Element {
  return (
    <nav class="segments" aria-label="Show">
      {MEASURES.map((show) => (
        <a
          href={usagePath('/usage', query, { show })}
          aria-current={show === query.show ? 'true' : undefined}
        >
          {MEASURE_NAMES[show]}
        </a>
      ))}
    </nav>
  );
}

function Groupings({ query }: { query: UsageQuery }): JSX.Element {
  return (
    <nav class="segments" aria-label="Group">
      {Object.entries(GROUPINGS).map(([by, name]) => (
        <a
          href={usagePath('/usage', query, { by })}
          aria-current={by === query.by ? 'true' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  return (
    <Empty title="No calls in this range" link={isFiltered ? CLEAR : TRY_PLAYGROUND}>
      <p>
        {isFiltered
          ? 'Other models, keys or agents may have been used in these days.'
          : 'Every call appears here, as soon as it is answered.'}
      </p>
    </Empty>
  );
}
