import type { JSX } from 'preact';
import { GatewayError } from '../../../core/errors.js';
import { hasFailed, type RequestRecord } from '../../../core/request-record.js';
import { hasTokens, TOKEN_CLASSES } from '../../../core/usage.js';
import { costOf } from '../../views/request-cost.js';
import { moneyOf, type RequestMoney } from '../../views/request-money.js';
import { requestsPath } from '../../views/request-query.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { CLASS_WORDS } from '../ledger-table.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Card, CopyButton, Figures, Money } from '../parts.js';
import { capitalize, formatExactAmount, formatCount, formatMs, formatTime } from '../formatting.js';
import { CostCard } from './cost.js';
import { flagFacts, Outcome } from './outcome.js';
import { isVisible, requestPath, SCOPES, type Scope } from './scope.js';
import { Timeline } from './timeline.js';

/** The page of one request: its outcome, usage and cost. */
export function requestRoutes(services: DashboardServices): Route[] {
  return SCOPES.map((scope) => ({
    method: 'GET',
    path: `${scope.path}/:id`,
    access: scope.access,
    answer: async (ctx, visitor) => {
      const record = await recordOf(ctx, scope, visitor, services);
      sendPage(ctx, visitor, {
        title: record.model ?? 'A request without a model',
        about: <Head record={record} />,
        above: { path: scope.path, name: scope.title },
        at: scope.path,
        body: await requestBody(record, scope, services),
      });
    },
  }));
}

/** The request of another account gets the same 404 as a missing one. */
async function recordOf(
  { params }: DashboardContext,
  scope: Scope,
  visitor: Visitor | undefined,
  { store }: DashboardServices,
): Promise<RequestRecord> {
  const record = await store.requests.one(params.id ?? '');
  if (record && isVisible(scope, visitor, record)) return record;
  throw new GatewayError('not_found', 'There is no such request, or its record was swept.');
}

function Head({ record }: { record: RequestRecord }): JSX.Element {
  return (
    <span class="row">
      <Outcome record={record} />
      <code>{record.id}</code>
      <CopyButton text={record.id} label="Copy the ID" />
    </span>
  );
}

async function requestBody(
  record: RequestRecord,
  scope: Scope,
  { store, now }: DashboardServices,
): Promise<JSX.Element> {
  const { account_id, key_id, model, provider, upstream_model } = record;
  const isPriced = model !== null && provider !== null && upstream_model !== null;
  const upstream = { model: model ?? '', provider: provider ?? '' };
  const [money, account, keys, prices] = await Promise.all([
    moneyOf(store, record),
    store.account(account_id),
    store.keys(account_id),
    isPriced
      ? store.prices.about({ ...upstream, upstream_model }, record.time_ms)
      : Promise.resolve([]),
  ]);
  const key = keys.find(({ id }) => id === key_id)?.name;
  const names = { key: key ?? key_id, account: account?.name ?? account_id };
  return (
    <>
      <Summary record={record} money={money} now_ms={now()} />
      <div class="split">
        <Card title="Timeline" about="How long each part took">
          <Timeline
            record={record}
            names_upstreams={scope.is_operator}
            now_ms={now()}
            task={money.task}
          />
        </Card>
        <Card title="Facts">
          <Facts record={record} names={names} scope={scope} submission={money.fetched?.id} />
        </Card>
      </div>
      <CostCard record={record} cost={costOf(record, prices)} money={money} />
    </>
  );
}

function Summary(props: {
  record: RequestRecord;
  money: RequestMoney;
  now_ms: number;
}): JSX.Element {
  const { record, money, now_ms } = props;
  const { first_token_ms, took_ms, own_ms } = record;
  return (
    <Figures
      figures={[
        {
          name: 'Received',
          value: <Ago at_ms={record.time_ms} now_ms={now_ms} />,
          note: formatTime(record.time_ms),
        },
        {
          name: 'Took',
          value: formatMs(took_ms),
          note: `${formatMs(own_ms)} of it in the gateway`,
        },
        {
          name: 'First token',
          value: first_token_ms === null ? '–' : formatMs(first_token_ms),
          note: answerKind(record),
        },
        {
          name: 'Cost',
          value: <Money nano={record.cost_nano} />,
          note: costNote(record, money),
        },
      ]}
    />
  );
}

function costNote({ cost_nano }: RequestRecord, { task, refunded_nano }: RequestMoney): string {
  if (refunded_nano > 0n) return `${formatExactAmount(refunded_nano)} of it refunded`;
  if (cost_nano > 0n) return 'as charged';
  if (task?.charge_nano) return 'charged when the result was fetched';
  return task && task.hold_nano > 0n ? 'charged when the result is fetched' : 'nothing charged';
}

function answerKind(record: RequestRecord): string {
  if (record.streamed) return 'streamed';
  return hasFailed(record) ? 'no answer' : 'answered as a whole';
}

function Facts(props: {
  record: RequestRecord;
  names: { key: string; account: string };
  scope: Scope;
  /** Of the video that it fetched. */
  submission: string | undefined;
}): JSX.Element {
  const { record, names, scope, submission } = props;
  const { path, is_operator } = scope;
  const link = (query: Parameters<typeof requestsPath>[1], name: string): JSX.Element => (
    <a href={requestsPath(path, query)}>{name}</a>
  );
  const facts: [string, JSX.Element | string | null][] = [
    ['Model', record.model && link({ model: record.model }, record.model)],
    ['Endpoint', record.endpoint],
    ['Account', is_operator ? link({ account: record.account_id }, names.account) : null],
    ['Key', link({ key: record.key_id }, names.key)],
    ['Agent', record.agent && link({ agent: record.agent }, record.agent)],
    ['Provider', is_operator ? record.provider && provider(record.provider) : null],
    ['Upstream model', is_operator ? record.upstream_model : null],
    ['Submission', submission ? <Submission id={submission} scope={scope} /> : null],
    ...tokenFacts(record),
    ['Saved by caches', amountUnlessZero(record.saved_nano)],
    ['Lost by the move, at most', amountUnlessZero(record.lost_nano)],
  ];
  const flags = flagFacts(record);
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
      )}
      {flags.map(({ name, about }) => (
        <>
          <dt>
            <Badge>{name}</Badge>
          </dt>
          <dd>{about}</dd>
        </>
      ))}
    </dl>
  );

  function provider(name: string): JSX.Element {
    return link({ provider: name }, name);
  }
}

/** The request that has the charge of a video in the ledger, and is refunded. */
function Submission({ id, scope }: { id: string; scope: Scope }): JSX.Element {
  return (
    <a href={requestPath(scope, id)}>
      <code>{id}</code>
    </a>
  );
}

function amountUnlessZero(nano: bigint): string | null {
  return nano === 0n ? null : formatExactAmount(nano);
}

function tokenFacts(record: RequestRecord): [string, string | null][] {
  const { prompt_tokens, completion_tokens, units } = record;
  const isCounted = hasTokens(record);
  const count = (value: number | null): string | null =>
    value === null || !isCounted ? null : formatCount(value);
  return [
    ['Input tokens', count(prompt_tokens)],
    ['Output tokens', count(completion_tokens)],
    ...TOKEN_CLASSES.map((name): [string, string | null] => [
      `of them ${CLASS_WORDS[name]}`,
      record[name] ? formatCount(record[name]) : null,
    ]),
    ...Object.entries(units ?? {}).map(([name, value]): [string, string] => [
      capitalize(name.replaceAll('_', ' ')),
      formatCount(value),
    ]),
  ];
}
