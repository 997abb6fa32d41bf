import { CLIENT_DISCONNECTED_STATUS, FLAGS } from '../../core/request-record.js';
import { TOKEN_CLASSES } from '../../core/usage.js';
import { MAX_NANO } from '../column-values.js';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_SUMMED_NANO = 10n ** 15n;

const IS_FAILED = `code is not null and status <> ${CLIENT_DISCONNECTED_STATUS}`;

/** The figures of the totals, each the SQL of what a record adds to it. */
const FIGURES: Readonly<Record<string, string>> = {
  calls: '1',
  failed: `case when ${IS_FAILED} then 1 else 0 end`,
  estimated: bit(FLAGS.estimated),
  fallbacks: bit(FLAGS.fallback),
  moved: bit(FLAGS.moved),
  prompt_tokens: known('prompt_tokens'),
  completion_tokens: known('completion_tokens'),
  ...Object.fromEntries(TOKEN_CLASSES.map((name) => [name, known(name)])),
  took_ms: 'took_ms',
  own_ms: 'own_ms',
  cost_nano: atMost('cost_nano'),
  uncollected_nano: atMost('uncollected_nano'),
  upstream_cost_nano: atMost(known('upstream_cost_nano')),
  profit_nano: atMost(known('cost_nano - upstream_cost_nano')),
  saved_nano: atMost('saved_nano'),
  lost_nano: atMost('lost_nano'),
};

/** An amount counts as a million dollars at most, so that the sum of a batch fits 64 bits. */
function atMost(amount: string): string {
  return `case when ${amount} > ${MAX_SUMMED_NANO} then ${MAX_SUMMED_NANO}
    when ${amount} < -${MAX_SUMMED_NANO} then -${MAX_SUMMED_NANO} else ${amount} end`;
}

function bit(flag: number): string {
  return `case when flags & ${flag} <> 0 then 1 else 0 end`;
}

function known(name: string): string {
  return `coalesce(${name}, 0)`;
}

export const FIGURE_NAMES = Object.keys(FIGURES);
const NAMES = FIGURE_NAMES.join(', ');
const SUMS = FIGURE_NAMES.map((name) => `sum(${name})`).join(', ');
const NAMED_SUMS = Object.entries(FIGURES)
  .map(([name, sql]) => `sum(${sql}) as ${name}`)
  .join(', ');

/** A sum stops at the end of 64 bits: an error would stop all totals. */
const ADDED = FIGURE_NAMES.map((name) => {
  const [old, more] = [`request_totals.${name}`, `excluded.${name}`];
  if (!name.endsWith('_nano')) return `${name} = ${old} + ${more}`;
  return `${name} = case
    when ${more} > 0 and ${old} > ${MAX_NANO} - ${more} then ${MAX_NANO}
    when ${more} < 0 and ${old} < -${MAX_NANO} - ${more} then -${MAX_NANO}
    else ${old} + ${more} end`;
}).join(', ');

/** The records with numbers above `from`, up to `to`. */
const FRESH = (from: string, to: string): string => `from requests where seq > ${from}
  and seq <= ${to}`;

/** The period of the rows that are split by account alone. */
export const ACCOUNT_DAY = 'account_day';

/** The beginning of the day of an hour. */
export const DAY = `start_ms - start_ms % ${DAY_MS}`;
const START = `time_ms - time_ms % ${HOUR_MS}`;
const MODEL = `coalesce(model, '') as model, coalesce(provider, '') as provider`;

/** The first and the last ID of the records. */
const ENDS = 'min(first_id), max(last_id)';
const WIDENED = `
    first_id = case when excluded.first_id < request_totals.first_id
      then excluded.first_id else request_totals.first_id end,
    last_id = case when excluded.last_id > request_totals.last_id
      then excluded.last_id else request_totals.last_id end`;

/**
 * Adds records to the totals: by the hour for each key, by the hour and by the day for all accounts
 * together under the account '', and by the day for each model of an account under the key '', for
 * each key, and for each account as a whole. All but the last are split by agent too. `from` and
 * `to` are SQL for the numbers of the records.
 */
export const ROLL_UP_TOTALS = (from: string, to: string): string => `
  with hours as materialized (
    select ${START} as start_ms, account_id, key_id, ${MODEL}, status,
      coalesce(agent, '') as agent, ${NAMED_SUMS}, min(id) as first_id, max(id) as last_id
    ${FRESH(from, to)} group by 1, 2, 3, 4, 5, 6, 7)
  insert into request_totals
    (period, start_ms, account_id, key_id, model, provider, status, agent, ${NAMES},
      first_id, last_id)
  select 'hour', start_ms, account_id, key_id, model, provider, status, agent, ${NAMES},
    first_id, last_id from hours
  union all
  select 'hour', start_ms, '', '', model, provider, status, agent, ${SUMS}, ${ENDS} from hours
    group by start_ms, model, provider, status, agent
  union all
  select 'day', ${DAY}, '', '', model, provider, status, agent, ${SUMS},
    ${ENDS} from hours
    group by ${DAY}, model, provider, status, agent
  union all
  select 'day', ${DAY}, account_id, '', model, '', status, agent, ${SUMS}, ${ENDS}
    from hours group by ${DAY}, account_id, model, status, agent
  union all
  select 'day', ${DAY}, account_id, key_id, '', '', status, agent, ${SUMS}, ${ENDS}
    from hours group by ${DAY}, account_id, key_id, status, agent
  union all
  select '${ACCOUNT_DAY}', ${DAY}, account_id, '', '', '', 0, '', ${SUMS}, ${ENDS}
    from hours where true group by ${DAY}, account_id
  on conflict (period, start_ms, account_id, key_id, model, provider, status, agent) do update set
    ${ADDED}, ${WIDENED}`;

/** Buckets of latencies in an octave: each begins 19 % above the one below. */
const PER_OCTAVE = 4;

/** The lowest latency of a bucket, in ms. */
export function bucketStart_ms(bucket: number): number {
  return bucket <= 0 ? 0 : 2 ** (bucket / PER_OCTAVE);
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

/**
 * Counts the latencies of answered calls by the hour and by the day: for each model and provider
 * under the account '', and for each account as a whole.
 */
export const ROLL_UP_LATENCIES = (from: string, to: string): string => `
  with hours as materialized (
    select ${START} as start_ms, account_id, ${MODEL}, ${bucket('took_ms')} as took,
      ${bucket('first_token_ms')} as first_token, count(*) as calls
    ${FRESH(from, to)} and code is null group by 1, 2, 3, 4, 5, 6)
  insert into request_latencies
    (period, start_ms, account_id, model, provider, kind, bucket, calls)
  ${LATENCY_ROWS}
  on conflict (period, start_ms, account_id, model, provider, kind, bucket) do update set
    calls = request_latencies.calls + excluded.calls`;
