import type { JSX } from 'preact';
import { runAction } from '../../action-context.js';
import type { DashboardServices, Route } from '../../types.js';
import { csvOfRows } from '../../../actions/csv.js';
import {
  listProviders,
  PROVIDER_COLUMNS,
  type ProviderShape,
} from '../../../actions/provider-list.js';
import { sendCsv, wantsCsv } from '../../csv-answer.js';
import { addressOf, ListPage, wholeList } from '../list-page.js';
import { upstreamHistories } from '../../views/upstreams.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Card, Empty } from '../parts.js';
import { capitalize, pluralize, formatCount } from '../formatting.js';
import { Table, type Column } from '../table.js';
import { upstreamColumns } from './upstream-table.js';

const BY_UPSTREAM =
  'The requests that ended at each upstream, the worst first, without errors that clients caused.';
const PATH = '/operator/providers';
const MINUTE_S = 60;
/** A provider with at most this share of failures counts as healthy. */
const TROUBLE_SHARE = 0.05;

/** The page with the recent calls to each provider. */
export function providersRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'operator',
    answer: async (ctx, visitor) => {
      if (wantsCsv(ctx)) {
        const { data } = await runAction(listProviders, {}, ctx, visitor, services);
        return sendCsv(ctx, 'providers.csv', csvOfRows(PROVIDER_COLUMNS, data));
      }
      const [{ window_s, processes, data }, upstreams] = await Promise.all([
        runAction(listProviders, {}, ctx, visitor, services),
        upstreamHistories(services),
      ]);
      const minutes = pluralize(window_s / MINUTE_S, 'minute');
      const reporters = pluralize(processes, 'process', 'processes');
      sendPage(ctx, visitor, {
        title: 'Providers',
        about: 'How upstreams answer, now and over the last day.',
        actions: (
          <a class="button" href={PATH}>
            Refresh
          </a>
        ),
        body: (
          <>
            <ListPage
              {...wholeList(data)}
              title="Now"
              about={`The last ${minutes}, as ${reporters} saw them.`}
              label="Providers"
              columns={columnsAt(services.now())}
              empty={
                <Empty title="No provider yet">
                  <p>
                    Declare one under <code>providers:</code> in gateway.yaml.
                  </p>
                </Empty>
              }
              pathTo={(words) => addressOf(PATH, { ...words })}
            />
            <Card title="The last 24 hours" about={BY_UPSTREAM} flush>
              {upstreams.data.length > 0 ? (
                <Table
                  label="Upstreams"
                  columns={upstreamColumns(upstreams.span)}
                  rows={upstreams.data}
                />
              ) : (
                <Empty title="No upstream yet">
                  <p>
                    A model names its upstreams under <code>models:</code> in gateway.yaml.
                  </p>
                </Empty>
              )}
            </Card>
          </>
        ),
      });
    },
  };
}

function columnsAt(now_ms: number): Column<ProviderShape>[] {
  const counts = (['answered', 'refused', 'failed'] as const).map((name) => ({
    head: capitalize(name),
    class: 'number',
    label: capitalize(name),
    cell: (provider: ProviderShape) => formatCount(provider[name]),
  }));
  return [
    {
      head: 'Provider',
      class: 'lead',
      cell: ({ name, manifest, unpriced }) => (
        <>
          <strong>{name}</strong>
          {manifest !== name && <div class="hint">{manifest}</div>}
          {unpriced.map(({ model, unit }) => (
            <div class="wrong">
              {model} bills <code>{unit}</code>, which has no price
            </div>
          ))}
        </>
      ),
    },
    { head: 'Health', class: 'end', cell: (provider) => <Health provider={provider} /> },
    ...counts,
    {
      head: 'Last success',
      class: 'soft',
      label: 'Last success',
      cell: ({ last_success }) =>
        last_success === null ? 'never' : <Ago at_ms={Date.parse(last_success)} now_ms={now_ms} />,
    },
    {
      head: 'Last failure',
      class: 'soft',
      label: 'Last failure',
      cell: ({ last_failure }) =>
        last_failure === null ? (
          'never'
        ) : (
          <>
            <Ago at_ms={Date.parse(last_failure.at)} now_ms={now_ms} />
            <div class="wrong">{last_failure.message}</div>
          </>
        ),
    },
  ];
}

function Health({ provider }: { provider: ProviderShape }): JSX.Element {
  const { answered, refused, failed, resting } = provider;
  if (resting.length > 0) {
    return (
      <>
        <Badge colour="bad">left alone</Badge>
        {resting.map(({ model, until }) => (
          <div class="hint">
            {model} until {until.slice(11, 19)} UTC
          </div>
        ))}
      </>
    );
  }
  if (answered + failed === 0) {
    return refused > 0 ? <Badge colour="warn">refuses all</Badge> : <Badge>quiet</Badge>;
  }
  if (failed === 0) return <Badge colour="good">healthy</Badge>;
  if (answered === 0) return <Badge colour="bad">down</Badge>;
  const isTrouble = failed / (answered + failed) > TROUBLE_SHARE;
  return isTrouble ? <Badge colour="warn">degraded</Badge> : <Badge colour="good">healthy</Badge>;
}
