import type { ComponentChildren, JSX } from 'preact';
import type { DashboardServices, Route } from '../../types.js';
import { liveReport, RANGES, type Live, type Range, type Upstream } from '../../views/live.js';
import { momentName } from '../../../actions/moments.js';
import { listAge } from '../../../config/list-age.js';
import { oldListText } from '../../../lib/old-list.js';
import { MODALITIES } from '../../../modalities/index.js';
import { requestsPath, type RequestQuery } from '../../views/request-query.js';
import { groupTotals as groupedBy } from '../../views/traffic.js';
import { BarChart, Legend } from '../charts.js';
import { sendPage } from '../page.js';
import { Badge, Card, Figures, Money, Notice, type Figure } from '../parts.js';
import { seriesOf, startInFull } from '../series.js';
import { pluralize, formatCount, formatMs, formatRate, formatPercent } from '../formatting.js';

const PATH = '/operator';
const REQUESTS = '/operator/requests';
const LIVE_MS = 5_000;
const TOP = 5;

/** The page with the traffic of all accounts, which a script keeps up to date. */
export function liveRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'operator',
    answer: async (ctx, visitor) => {
      const wanted = ctx.query.over;
      const range = (Object.keys(RANGES) as Range[]).find((one) => one === wanted) ?? 'day';
      const live = await liveReport(range, services);
      const age = await listAge(services.configuration, MODALITIES, live.span.to_ms);
      sendPage(ctx, visitor, {
        title: 'Live',
        about: 'The traffic of all accounts and its outcome.',
        actions: <Ranges chosen={range} />,
        body: (
          <div class="stack" data-live={LIVE_MS}>
            <Reload fault={services.state.configuration_reason} />
            <OldList text={oldListText(age)} />
            <LiveFigures live={live} />
            <Charts live={live} />
            <div class="split halves">
              <WorstUpstreams live={live} />
              <Accounts live={live} />
            </div>
          </div>
        ),
      });
    },
  };
}

function Ranges({ chosen }: { chosen: Range }): JSX.Element {
  return (
    <nav class="segments" aria-label="Range">
      {Object.entries(RANGES).map(([range, { name }]) => (
        <a href={`${PATH}?over=${range}`} aria-current={range === chosen ? 'true' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** The error of an edited configuration that could not be loaded. */
function Reload({ fault }: { fault: string | undefined }): JSX.Element | null {
  if (fault === undefined) return null;
  return (
    <Notice colour="bad">
      The edited configuration could not be loaded; the previous one stays in use. {fault}
    </Notice>
  );
}

/** How old the list prices are, from 30 days on. */
function OldList({ text }: { text: string | undefined }): JSX.Element | null {
  return text === undefined ? null : <Notice colour="warn">{text}</Notice>;
}

/** The requests of the range that fit. */
function pathTo(live: Live, query: RequestQuery): string {
  return requestsPath(REQUESTS, { from: momentName(live.span.from_ms), ...query });
}

function LiveFigures({ live }: { live: Live }): JSX.Element {
  const { totals, latency, holds, span } = live;
  const { calls, failed } = totals;
  const took = latency?.took;
  const first = latency?.first_token;
  const ofDay = live.period === 'day' ? ', 24 h' : '';
  const figures: Figure[] = [
    {
      name: 'Calls a minute',
      value: formatRate(live.calls_per_minute),
      note: `${pluralize(calls, 'call')} since ${startInFull(span.from_ms, 'hour')} UTC`,
    },
    {
      name: 'Error rate',
      value: (
        <a href={pathTo(live, { status: 'failed' })}>
          {calls === 0 ? '–' : formatPercent(failed / calls)}
        </a>
      ),
      note: `${formatCount(failed)} failed or refused`,
    },
    {
      name: `Latency, p50${ofDay}`,
      value: took ? formatMs(took.p50_ms) : '–',
      note: took ? `p95 ${formatMs(took.p95_ms)}` : 'no answer yet',
    },
    {
      name: `First token, p50${ofDay}`,
      value: first ? formatMs(first.p50_ms) : '–',
      note: first ? `p95 ${formatMs(first.p95_ms)}` : 'no stream yet',
    },
    {
      name: 'Charged',
      value: <Money nano={totals.cost_nano} />,
      note: <Uncollected nano={totals.uncollected_nano} />,
    },
    {
      name: 'Open holds',
      value: <Money nano={holds.amount_nano} />,
      note: `now, for ${pluralize(holds.count, 'request')}`,
    },
  ];
  return <Figures figures={figures} />;
}

function Uncollected({ nano }: { nano: bigint }): JSX.Element {
  if (nano === 0n) return <>all of it collected</>;
  return (
    <Badge colour="warn">
      <Money nano={nano} /> uncollected
    </Badge>
  );
}

function Charts({ live }: { live: Live }): JSX.Element {
  const { rows, span, period } = live;
  const title = `Errors by ${period}`;
  const calls = seriesOf('calls', rows, span, period);
  // All models together: the colours of the other chart are given by calls, not by errors.
  const errors = groupedBy(rows, ({ start_ms = 0 }) => start_ms).map(
    ({ name: start_ms, totals }) => ({ ...totals, start_ms }),
  );
  const models = groupedBy(rows, ({ model }) => model ?? '')
    .sort((a, b) => Number(b.totals.cost_nano - a.totals.cost_nano))
    .slice(0, TOP);
  return (
    <>
      <Card title={`Calls by ${period}`}>
        <div class={calls.parts.length > 0 ? 'split' : undefined}>
          <BarChart series={calls} title={`Calls by ${period}`} />
          {calls.parts.length > 0 && <Legend series={calls} />}
        </div>
      </Card>
      <div class="split halves">
        <Card title={title}>
          <BarChart series={seriesOf('errors', errors, span, period)} title={title} is_bad />
        </Card>
        <Card title="Top models" about="By spend" flush>
          <Ranking
            label="Top models"
            rows={models.map(({ name, totals }) => ({
              lead: (
                <a href={pathTo(live, name === '' ? {} : { model: name })}>
                  <strong>{name || 'no model'}</strong>
                </a>
              ),
              totals,
            }))}
          />
        </Card>
      </div>
    </>
  );
}

function WorstUpstreams({ live }: { live: Live }): JSX.Element {
  const lead = ({ provider, model }: Upstream): JSX.Element => (
    <a href={pathTo(live, { provider, model, status: 'failed' })}>
      <strong>{provider}</strong> <span class="hint">{model}</span>
    </a>
  );
  return (
    <Card
      title="Worst upstreams"
      about="By their share of failures, without refusals that the client caused"
      actions={<a href="/operator/providers">All providers</a>}
      flush
    >
      <Ranking
        label="Worst upstreams"
        nothing="No upstream has failed."
        rows={live.upstreams.map((one) => ({ lead: lead(one), totals: one.totals }))}
      />
    </Card>
  );
}

function Accounts({ live }: { live: Live }): JSX.Element {
  return (
    <Card
      title="Top accounts"
      about={`By spend, ${live.range === 'hour' ? 'the same hours' : 'in whole days'}`}
      flush
    >
      <Ranking
        label="Top accounts"
        rows={live.accounts.map(({ id, name, totals }) => ({
          lead: (
            <a href={pathTo(live, { account: id })}>
              <strong>{name}</strong>
            </a>
          ),
          totals,
        }))}
      />
    </Card>
  );
}

interface Ranked {
  lead: ComponentChildren;
  totals: Live['totals'];
}

function Ranking(props: { label: string; rows: readonly Ranked[]; nothing?: string }): JSX.Element {
  const { label, rows, nothing = 'No call yet.' } = props;
  if (rows.length === 0) return <p class="body soft">{nothing}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th class="number">Calls</th>
            <th class="number">Errors</th>
            <th class="number">Charged</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ lead, totals }) => (
            <tr>
              <td class="breaks">{lead}</td>
              <td class="number">{formatCount(totals.calls)}</td>
              <td class="number">{formatPercent(totals.failed / totals.calls)}</td>
              <td class="number">
                <Money nano={totals.cost_nano} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
