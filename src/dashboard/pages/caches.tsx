import type { JSX } from 'preact';
import type { RequestTotals } from '../../store/requests/request-types.js';
import { usageRange, wrongDays } from '../../actions/usage-groups.js';
import { cachedShare, cacheReport, type CacheGroup } from '../views/cache-report.js';
import type { DashboardServices, Route } from '../types.js';
import { formatCount, formatPercent, pluralize } from './formatting.js';
import { requireSession } from './guard.js';
import { CsvLink } from './list-page.js';
import { sendPage } from './page.js';
import { Card, Empty, Figures, Money } from './parts.js';
import { Table, type Column } from './table.js';
import { RangeFilter } from './usage-filters.js';
import { csvPath, readUsageQuery } from './usage-query.js';

const ABOUT =
  'What you save because upstreams read parts of your prompts from their caches. Days begin at ' +
  'midnight UTC.';
const SAVED =
  'Saved is what tokens read from a cache would have cost more as plain input, less what writing ' +
  'them cost beyond plain input, at the prices of each call. It is below zero where more was ' +
  'written than read.';
const LOST =
  'Lost is a bound. It counts calls that another upstream answered than the one with the cache ' +
  'of their conversation, and takes all of their input that was not read from a cache for lost, ' +
  'new text too.';

/** The page of what caches saved, and what moves between upstreams lost, in dollars. */
export function cachesRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: '/caches',
    access: 'session',
    answer: async (ctx, visitor) => {
      const { session } = requireSession(visitor);
      const now_ms = services.now();
      const query = readUsageQuery(ctx.query);
      const { from = '', to = '' } = query;
      const wrong = wrongDays(query, now_ms);
      const range = wrong ? { ...usageRange({}, now_ms), from, to } : usageRange(query, now_ms);
      const body = (
        <>
          <form class="filters" method="get" action="/caches">
            <RangeFilter path="/caches" {...{ query, range, now_ms, wrong }} />
            <button>Apply</button>
          </form>
          {wrong ? <Unread /> : await reportBody(session.account_id, query, services)}
        </>
      );
      const page = { title: 'Caches', about: ABOUT, body };
      if (wrong) return sendPage(ctx, visitor, page, wrong.status);
      const actions = <CsvLink path={csvPath({ ...query, by: 'model' })} />;
      sendPage(ctx, visitor, { ...page, actions });
    },
  };
}

function Unread(): JSX.Element {
  return (
    <Card flush>
      <Empty title="The range cannot be read" link={{ href: '/caches', text: 'Clear the range' }}>
        <p>Correct the days or clear them to see what caches saved.</p>
      </Empty>
    </Card>
  );
}

async function reportBody(
  account_id: string,
  { from, to }: { from?: string; to?: string },
  services: DashboardServices,
): Promise<JSX.Element> {
  const [report, keys] = await Promise.all([
    cacheReport({ account_id, from, to }, services),
    services.store.keys(account_id),
  ]);
  const { totals, groups } = report;
  if (groups.model.length === 0) {
    return (
      <Card flush>
        <Empty title="No input in this range" link={{ href: '/usage', text: 'See all usage' }}>
          <p>Each call whose input is counted in tokens appears here.</p>
        </Empty>
      </Card>
    );
  }
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return (
    <>
      <CacheFigures totals={totals} />
      <CacheTable title="By model" head="Model" groups={groups.model} nameOf={(name) => name} />
      <CacheTable
        title="By key"
        head="Key"
        groups={groups.key_id}
        nameOf={(id) => names.get(id) ?? 'another key'}
      />
      <CacheTable
        title="By agent"
        head="Agent"
        groups={groups.agent}
        nameOf={(name) => name || 'not known'}
      />
      <Card title="How it is counted">
        <p>{SAVED}</p>
        <p>{LOST}</p>
      </Card>
    </>
  );
}

function CacheFigures({ totals }: { totals: RequestTotals }): JSX.Element {
  const { prompt_tokens, cached_tokens, moved } = totals;
  return (
    <Figures
      figures={[
        {
          name: 'Read from caches',
          value: formatPercent(cachedShare(totals)),
          note: `${formatCount(cached_tokens)} of ${formatCount(prompt_tokens)} tokens of input`,
        },
        {
          name: 'Saved',
          value: <Money nano={totals.saved_nano} />,
          note: 'less what cache writes cost',
        },
        {
          name: 'Lost by moves, at most',
          value: <Money nano={totals.lost_nano} />,
          note: moved === 0 ? 'no call has moved' : `${pluralize(moved, 'call')} moved`,
        },
        { name: 'Charged', value: <Money nano={totals.cost_nano} />, note: 'before refunds' },
      ]}
    />
  );
}

function CacheTable(props: {
  title: string;
  head: string;
  groups: readonly CacheGroup[];
  nameOf: (name: string) => string;
}): JSX.Element {
  const { title, head, groups, nameOf } = props;
  const columns: Column<CacheGroup>[] = [
    { head, class: 'lead breaks', cell: ({ name }) => <strong>{nameOf(name)}</strong> },
    {
      head: 'From caches',
      label: 'From caches',
      class: 'number',
      cell: ({ totals }) => formatPercent(cachedShare(totals)),
    },
    {
      head: 'Input tokens',
      label: 'Input tokens',
      class: 'number soft',
      cell: ({ totals }) => formatCount(totals.prompt_tokens),
    },
    {
      head: 'Written',
      label: 'Written',
      class: 'number soft',
      cell: ({ totals }) => formatCount(totals.cache_write_tokens + totals.cache_write_1h_tokens),
    },
    {
      head: 'Saved',
      label: 'Saved',
      class: 'number',
      cell: ({ totals }) => <Money nano={totals.saved_nano} />,
    },
    {
      head: 'Lost, at most',
      label: 'Lost, at most',
      class: 'number',
      cell: ({ totals }) => <Money nano={totals.lost_nano} />,
    },
    {
      head: 'Charged',
      label: 'Charged',
      class: 'number',
      cell: ({ totals }) => <Money nano={totals.cost_nano} />,
    },
  ];
  return (
    <Card title={title} flush>
      <Table label={title} columns={columns} rows={groups} />
    </Card>
  );
}
