import { AMOUNTS, COUNTS, HOUR_MS, PER_OCTAVE } from './request-sums.js';
import { MAX_NANO } from '../column-values.js';

const DAY_MS = 86_400_000;

const FIGURES = { ...COUNTS, ...AMOUNTS };

export const FIGURE_NAMES = Object.keys(FIGURES);
const NAMES = FIGURE_NAMES.join(', ');
const SUMS = FIGURE_NAMES.map((name) => `sum(${name})`).join(', ');
const NAMED_SUMS = Object.entries(FIGURES)
  .map(([name, { sql }]) => `sum(${sql}) as ${name}`)
  .join(', ');

/** A sum stops at the end of 64 bits: an error would stop all totals. */
const ADDED = FIGURE_NAMES.map((name) => {
  const [old, more] = [`request_totals.${name}`, `excluded.${name}`];
  if (!name.endsWith('_nano')) return `${name} = ${old} + ${more}`;
  const isTooMuch = `${old} > ${MAX_NANO} - ${more}`;
  return `${name} = case when ${isTooMuch} then ${MAX_NANO} else ${old} + ${more} end`;
}).join(', ');

/** The records with numbers above `from`, up to `to`. */
const FRESH = (from: string, to: string): string => `from requests where seq > ${from}
  and seq <= ${to}`;

/** The columns of the sums by hour that `RequestSums` makes, in this order. */
const SUMMED = ['start_ms', 'account_id', 'key_id', 'model', 'provider', 'status'];
const COUNTED = ['start_ms', 'account_id', 'model', 'provider', 'took', 'first_token', 'calls'];

/** Selects rows with these columns from a JSON list of lists. */
function listed(columns: readonly string[]): string {
  const values = columns.map((name, at) => `value ->> ${at} as ${name}`).join(', ');
  return `select ${values} from json_each(?)`;
}

/** The period of the rows that are split by account alone. */
export const ACCOUNT_DAY = 'account_day';

const DAY = `start_ms - start_ms % ${DAY_MS}`;
const START = `time_ms - time_ms % ${HOUR_MS}`;
const MODEL = `coalesce(model, '') as model, coalesce(provider, '') as provider`;

/** The first and the last ID of the records. */
const ENDS = 'min(first_id), max(last_id)';
const WIDENED = `
    first_id = case when excluded.first_id < request_totals.first_id
      then excluded.first_id else request_totals.first_id end,
    last_id = case when excluded.last_id > request_totals.last_id
      then excluded.last_id else request_totals.last_id end`;

const HOURS_OF_RECORDS = (from: string, to: string): string => `
    select ${START} as start_ms, account_id, key_id, ${MODEL}, status, ${NAMED_SUMS},
      min(id) as first_id, max(id) as last_id
    ${FRESH(from, to)} group by 1, 2, 3, 4, 5, 6`;

/**
 * Adds records to the totals: by the hour for each key, by the hour and by the day for all accounts
 * together under the account '', and by the day for each model of an account under the key '', for
 * each key, and for each account as a whole. `from` and `to` are SQL for the numbers of the
 * records.
 */
export const ROLL_UP_TOTALS = (from: string, to: string): string =>
  addTotals(HOURS_OF_RECORDS(from, to));

/** The same on SQLite, from sums in JSON, its one parameter. */
export const ADD_TOTALS = addTotals(
  listed([...SUMMED, ...Object.keys(FIGURES), 'first_id', 'last_id']),
);

function addTotals(hours: string): string {
  return `
  with hours as materialized (${hours})
  insert into request_totals
    (period, start_ms, account_id, key_id, model, provider, status, ${NAMES},
      first_id, last_id)
  select 'hour', start_ms, account_id, key_id, model, provider, status, ${NAMES},
    first_id, last_id from hours
  union all
  select 'hour', start_ms, '', '', model, provider, status, ${SUMS}, ${ENDS} from hours
    group by start_ms, model, provider, status
  union all
  select 'day', ${DAY}, '', '', model, provider, status, ${SUMS},
    ${ENDS} from hours
    group by ${DAY}, model, provider, status
  union all
  select 'day', ${DAY}, account_id, '', model, '', status, ${SUMS}, ${ENDS}
    from hours group by ${DAY}, account_id, model, status
  union all
  select 'day', ${DAY}, account_id, key_id, '', '', status, ${SUMS}, ${ENDS}
    from hours group by ${DAY}, account_id, key_id, status
  union all
  select '${ACCOUNT_DAY}', ${DAY}, account_id, '', '', '', 0, ${SUMS}, ${ENDS}
    from hours where true group by ${DAY}, account_id
  on conflict (period, start_ms, account_id, key_id, model, provider, status) do update set
    ${ADDED}, ${WIDENED}`;
}

/** Adds records to the index by account. */
export const ROLL_UP_ACCOUNTS = (from: string, to: string): string => `
  insert into request_accounts (account_id, id)
  select account_id, id ${FRESH(from, to)} order by account_id, id`;

const bucket = (ms: string): string =>
  `cast(floor(${PER_OCTAVE} * ln(case when ${ms} < 1 then 1 else ${ms} end) / ln(2)) as integer)`;

const LATENCY_ROWS = ['took', 'first_token']
  .flatMap((kind) => [latencyRows('hour', 'start_ms', kind), latencyRows('day', DAY, kind)])
  .join(' union all ');

function latencyRows(period: string, start_ms: string, kind: string): string {
  return `
    select '${period}', ${start_ms}, '', model, provider, '${kind}', ${kind}, sum(calls)
      from hours where ${kind} is not null group by ${start_ms}, model, provider, ${kind}
    union all
    select '${period}', ${start_ms}, account_id, '', '', '${kind}', ${kind}, sum(calls)
      from hours where ${kind} is not null group by ${start_ms}, account_id, ${kind}`;
}

const LATENCIES_OF_RECORDS = (from: string, to: string): string => `
    select ${START} as start_ms, account_id, ${MODEL}, ${bucket('took_ms')} as took,
      ${bucket('first_token_ms')} as first_token, count(*) as calls
    ${FRESH(from, to)} and code is null group by 1, 2, 3, 4, 5, 6`;

/**
 * Counts the latencies of answered calls by the hour and by the day: for each model and provider
 * under the account '', and for each account as a whole.
 */
export const ROLL_UP_LATENCIES = (from: string, to: string): string =>
  addLatencies(LATENCIES_OF_RECORDS(from, to));

/** The same on SQLite, from counts in JSON, its one parameter. */
export const ADD_LATENCIES = addLatencies(listed(COUNTED));

function addLatencies(hours: string): string {
  return `
  with hours as materialized (${hours})
  insert into request_latencies
    (period, start_ms, account_id, model, provider, kind, bucket, calls)
  ${LATENCY_ROWS}
  on conflict (period, start_ms, account_id, model, provider, kind, bucket) do update set
    calls = request_latencies.calls + excluded.calls`;
}
