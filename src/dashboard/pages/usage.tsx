import type { JSX } from 'preact';
import type { DashboardServices, Route } from '../types.js';
import { groupUsage, usageRange, type Grouping, type UsageRange } from '../views/usage.js';
import { DayChart } from './charts.js';
import { signedIn } from './guard.js';
import { Icon } from './icons.js';
import { sendPage } from './page.js';
import { Choice, Field } from './fields.js';
import { Card, Empty } from './parts.js';
import { spendOf } from './spend.js';
import { UsageTable } from './usage-table.js';
import { readUsageQuery, usagePath, type UsageQuery } from './usage-query.js';
import type { Key } from '../../store/keys/keys.js';

const DAY_MS = 86_400_000;
const GROUPINGS: Record<Grouping, string> = { day: 'By day', model: 'By model', key: 'By key' };

/** The page of usage and cost by day, model or key. */
export function usageRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: '/usage',
    who: 'visitor',
    answer: async (ctx, visitor) => {
      const { session } = signedIn(visitor);
      const query = readUsageQuery(ctx.query);
      sendPage(ctx, visitor, {
        title: 'Usage',
        about: 'What was used and what it cost. Days begin at midnight UTC.',
        actions: (
          <a class="button" href={usagePath('/api/usage', query, { format: 'csv' })} download>
            <Icon name="download" />
            Download CSV
          </a>
        ),
        body: await usageBody(query, session.account_id, services),
      });
    },
  };
}

async function usageBody(
  query: UsageQuery,
  account_id: string,
  { store, now }: DashboardServices,
): Promise<JSX.Element> {
  const range = usageRange(query, now());
  const [all, keys] = await Promise.all([store.usage(account_id, range), store.keys(account_id)]);
  const models = [...new Set(all.map(({ model }) => model))];
  const rows = all.filter(
    ({ model, key_id }) =>
      (query.model === undefined || model === query.model) &&
      (query.key === undefined || key_id === query.key),
  );
  return (
    <>
      <Filters query={query} range={range} models={models} keys={keys} now_ms={now()} />
      <Card title="Spend by day">
        <DayChart days={spendOf(rows, range).days} />
      </Card>
      <Card title={GROUPINGS[query.by]} actions={<Groupings query={query} />} flush>
        {rows.length > 0 ? (
          <UsageTable usage={groupUsage(rows, query.by)} by={query.by} keys={keys} />
        ) : (
          <Nothing isFiltered={all.length > 0} />
        )}
      </Card>
    </>
  );
}

function Filters(props: {
  query: UsageQuery;
  range: UsageRange;
  models: readonly string[];
  keys: readonly Key[];
  now_ms: number;
}): JSX.Element {
  const { query, range, models, keys } = props;
  const any = { value: '', name: 'All' };
  return (
    <form class="filters" method="get" action="/usage">
      <nav class="segments" aria-label="Range">
        {[7, 30, 90].map((days) => (
          <Preset days={days} {...props} />
        ))}
      </nav>
      <Field label="From" name="from" input={{ type: 'date', value: range.from }} />
      <Field label="To" name="to" input={{ type: 'date', value: range.to }} />
      <Choice
        label="Model"
        name="model"
        value={query.model}
        options={[any, ...models.map((model) => ({ value: model, name: model }))]}
      />
      <Choice
        label="Key"
        name="key"
        value={query.key}
        options={[any, ...keys.map(({ id, name }) => ({ value: id, name }))]}
      />
      <input type="hidden" name="by" value={query.by} />
      <button>Apply</button>
    </form>
  );
}

function Preset(props: {
  days: number;
  query: UsageQuery;
  range: UsageRange;
  now_ms: number;
}): JSX.Element {
  const { days, query, range, now_ms } = props;
  const to = new Date(now_ms).toISOString().slice(0, 10);
  const from = new Date(now_ms - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const isCurrent = range.from === from && range.to === to;
  return (
    <a
      href={usagePath('/usage', query, { from, to })}
      aria-current={isCurrent ? 'true' : undefined}
    >
      {days} days
    </a>
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
    <Empty title="No calls in this range">
      <p>
        {isFiltered
          ? 'Other models or keys were used in these days.'
          : 'Every call that is charged appears here, as soon as it is answered.'}
      </p>
      <a class="button" href={isFiltered ? '/usage' : '/playground'}>
        {isFiltered ? 'Clear the filter' : 'Try the Playground'}
      </a>
    </Empty>
  );
}
