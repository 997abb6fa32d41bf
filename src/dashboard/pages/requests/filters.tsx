import type { JSX } from 'preact';
import type { Key } from '../../../store/keys/keys.js';
import type { DashboardServices } from '../../types.js';
import { dayBefore, momentName, readMoment } from '../../../actions/moments.js';
import { requestsPath, type RequestQuery, type WrongFilter } from '../../views/request-query.js';
import { Field, FilterChoice, keyOptions, namedOptions } from '../fields.js';
import type { Scope } from './scope.js';
import type { RequestNames } from './table.js';

const STATUSES = Object.entries({
  failed: 'Any failure',
  '2': 'Answered',
  '4': 'Refused (4xx)',
  '429': 'Too many (429)',
  '402': 'No credit (402)',
  '5': 'Failed (5xx)',
  '499': 'Client left',
}).map(([value, name]) => ({ value, name }));

/** The form of a list's filter, which is its address. */
export function Filters(props: {
  query: RequestQuery;
  wrong: WrongFilter;
  scope: Scope;
  keys: readonly Key[];
  names: RequestNames;
  services: DashboardServices;
}): JSX.Element {
  const { query, wrong, scope, keys, services } = props;
  const { models, providers } = services.configuration;
  return (
    <form class="filters" method="get" action={scope.path}>
      <Moment label="From (UTC)" name="from" query={query} fault={wrong.from} />
      <Moment label="To (UTC)" name="to" query={query} fault={wrong.to} />
      <FilterChoice
        label="Status"
        name="status"
        value={query.status}
        options={STATUSES}
        fault={wrong.status}
      />
      <FilterChoice
        label="Model"
        name="model"
        value={query.model}
        options={namedOptions([...models.keys()])}
      />
      {scope.is_operator && <OperatorFilters {...props} providers={[...providers.keys()]} />}
      {(keys.length > 0 || query.key !== undefined) && (
        <FilterChoice label="Key" name="key" value={query.key} options={keyOptions(keys)} />
      )}
      <Field
        label="Agent"
        name="agent"
        input={{ value: query.agent, placeholder: 'such as codex', maxLength: 32 }}
      />
      <button>Apply</button>
    </form>
  );
}

function OperatorFilters(props: {
  query: RequestQuery;
  names: RequestNames;
  providers: readonly string[];
}): JSX.Element {
  const { query, names, providers } = props;
  const account = query.account === undefined ? undefined : names.accounts.get(query.account);
  const value = account ?? query.account;
  return (
    <>
      <FilterChoice
        label="Provider"
        name="provider"
        value={query.provider}
        options={namedOptions(providers)}
      />
      <Field
        label="Account"
        name="account"
        input={{ value, placeholder: 'Name or ID', maxLength: 100 }}
      />
    </>
  );
}

function Moment(props: {
  label: string;
  name: 'from' | 'to';
  query: RequestQuery;
  fault: string | undefined;
}): JSX.Element {
  const { label, name, query, fault } = props;
  const text = query[name];
  const value = text === undefined ? undefined : momentName(readMoment(name, text));
  return (
    <Field label={label} name={name} fault={fault} input={{ type: 'datetime-local', value }} />
  );
}

/** Links to common ranges. */
export function Spans(props: { query: RequestQuery; scope: Scope; now_ms: number }): JSX.Element {
  const { query, scope, now_ms } = props;
  const today = dayBefore(now_ms, 0);
  const yesterday = dayBefore(now_ms, 1);
  const spans: { name: string; from?: string; to?: string }[] = [
    { name: 'All' },
    { name: 'Today', from: today },
    { name: 'Yesterday', from: yesterday, to: yesterday },
    { name: '7 days', from: dayBefore(now_ms, 6) },
  ];
  return (
    <nav class="segments" aria-label="Range">
      {spans.map(({ name, from = '', to = '' }) => (
        <a
          href={requestsPath(scope.path, query, { from, to })}
          aria-current={(query.from ?? '') === from && (query.to ?? '') === to ? 'true' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Finds a request by its ID, which every answer has in `x-request-id`. */
export function Search({ scope, typed }: { scope: Scope; typed: string }): JSX.Element {
  return (
    <form class="search row" method="get" action={scope.path} role="search">
      <input
        name="id"
        aria-label="Request ID"
        placeholder="Request ID"
        value={typed}
        maxLength={200}
        required
      />
      <button>Find</button>
    </form>
  );
}
