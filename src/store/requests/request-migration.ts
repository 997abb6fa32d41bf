import type { Knex } from 'knex';
import { isOnPostgres } from '../database.js';

const MAX_SUMMED_NANO = 10n ** 15n;

/** The totals as they were at first. Later migrations begin from here. */
export const TOTALS_KEY = [
  ['period', 'text'],
  ['start_ms', 'bigint'],
  ['account_id', 'text'],
  ['key_id', 'text'],
  ['model', 'text'],
  ['provider', 'text'],
  ['status', 'integer'],
] as const;
export const TOTALS_COUNTS =
  `calls failed estimated fallbacks prompt_tokens completion_tokens cached_tokens
  cache_write_tokens audio_input_tokens audio_output_tokens reasoning_tokens cost_nano
  uncollected_nano`.split(/\s+/u);

/** The columns of the totals beside their key; `added` are those of a later migration. */
export function totalsValues(id_type: string, added: readonly string[] = []): string {
  return [
    ...TOTALS_COUNTS.map((name) => `${name} bigint not null`),
    ...added,
    ...['took_ms', 'own_ms'].map((name) => `${name} double precision not null`),
    ...['first_id', 'last_id'].map((name) => `${name} ${id_type} not null`),
  ].join(', ');
}

/**
 * Adds the records of requests, with their totals. `seq` numbers the records in the order of their
 * commits, so that the totals know which records they have: in SQLite it is the ID of the row, in
 * PostgreSQL the number of the transaction.
 */
export async function recordRequests(trx: Knex): Promise<void> {
  await createRequests(trx, isOnPostgres(trx));
  await createTotals(trx, isOnPostgres(trx));
}

/** The collation makes IDs sort by time, whatever the default of the database is. */
function idType(isPostgres: boolean): string {
  return isPostgres ? 'text collate "C"' : 'text';
}

async function createRequests(trx: Knex, isPostgres: boolean): Promise<void> {
  const seq = isPostgres
    ? 'seq bigint not null default (pg_current_xact_id()::text::bigint)'
    : 'seq integer primary key';
  const text = idType(isPostgres);
  await trx.raw(`create table requests (
    ${seq},
    id ${text} not null unique,
    time_ms bigint not null,
    account_id text not null,
    key_id text not null,
    endpoint text not null,
    model text,
    provider text,
    upstream_model text,
    attempts text,
    status integer not null,
    code text,
    streamed boolean not null,
    prompt_tokens bigint,
    completion_tokens bigint,
    cached_tokens bigint,
    cache_write_tokens bigint,
    audio_input_tokens bigint,
    audio_output_tokens bigint,
    reasoning_tokens bigint,
    units text,
    auth_ms double precision,
    read_ms double precision,
    hold_ms double precision,
    first_token_ms double precision,
    took_ms double precision not null,
    own_ms double precision not null,
    cost_nano bigint not null,
    uncollected_nano bigint not null default 0,
    flags integer not null
  )`);
  // The index has the code and the status, so that a rare one is found without reading all rows.
  await trx.raw(
    'create index requests_failed on requests (id, code, status) where code is not null',
  );
  if (isPostgres) await trx.raw('create index requests_seq on requests (seq)');
}

/**
 * `request_accounts` stands in for an index by account: with the totals it is written for many
 * records at once, which costs a charge far less. The key of the others begins with the time, so
 * that old rows lie together.
 */
async function createTotals(trx: Knex, isPostgres: boolean): Promise<void> {
  const text = idType(isPostgres);
  const clustered = isPostgres ? '' : 'without rowid';
  await trx.raw(`create table request_totals (
    ${TOTALS_KEY.map(([name, type]) => `${name} ${type} not null`).join(', ')},
    ${totalsValues(text)},
    primary key (${TOTALS_KEY.map(([name]) => name).join(', ')})
  ) ${clustered}`);
  await trx.raw(`create table request_accounts (
    account_id text not null,
    id ${text} not null,
    primary key (account_id, id)
  ) ${clustered}`);
  await trx.raw(`create table request_latencies (
    period text not null,
    start_ms bigint not null,
    account_id text not null,
    model text not null,
    provider text not null,
    kind text not null,
    bucket integer not null,
    calls bigint not null,
    primary key (period, start_ms, account_id, model, provider, kind, bucket)
  ) ${clustered}`);
  await trx.raw('create table request_roll_up (id integer primary key, upto bigint not null)');
  await trx.raw('insert into request_roll_up (id, upto) values (1, 0)');
}

/**
 * Adds rows for the days of each account. Before, the days had rows only by key, so a list of the
 * accounts of a month read a row for each key and status of every day. An amount counts as a
 * million dollars at most, so that the sum fits 64 bits.
 */
export async function addAccountDays(trx: Knex): Promise<void> {
  const names = [...TOTALS_COUNTS, 'took_ms', 'own_ms'];
  const sums = names.map((name) =>
    name.endsWith('_nano')
      ? `sum(case when ${name} > ${MAX_SUMMED_NANO} then ${MAX_SUMMED_NANO} else ${name} end)`
      : `sum(${name})`,
  );
  await trx.raw(`insert into request_totals
    (period, start_ms, account_id, key_id, model, provider, status, ${names.join(', ')},
      first_id, last_id)
    select 'account_day', start_ms, account_id, '', '', '', 0, ${sums.join(', ')},
      min(first_id), max(last_id)
    from request_totals where period = 'day' and account_id <> '' and key_id <> ''
    group by start_ms, account_id`);
}

/**
 * Above each number of a transaction, by which records were numbered before. A process of an older
 * version that still runs adds no record with such a number to the totals: it knows of no gaps.
 */
const FIRST_NUMBER = 2n ** 62n;

/** The records that the totals lack, as each record in the totals is in the index by account. */
const NOT_IN_TOTALS = `not exists (select from request_accounts
  where request_accounts.account_id = requests.account_id and request_accounts.id = requests.id)`;

/**
 * In PostgreSQL, numbers the records by a sequence. Before, a record had the number of its
 * transaction, which begins anew on another server: after `pg_restore` the new records seemed to
 * be in the totals. Such records, and those of this moment, get new numbers.
 */
export async function numberRequests(trx: Knex): Promise<void> {
  if (!isOnPostgres(trx)) return;
  // No process adds to the totals meanwhile. Calls are written until the table is locked.
  await trx.raw('select upto from request_roll_up for update');
  const oldest = 'pg_snapshot_xmin(pg_current_snapshot())::text::bigint';
  await trx.raw(`create temporary table unnumbered on commit drop as
    select id, ${oldest} as oldest from requests where ${NOT_IN_TOTALS}
    union all select null, ${oldest}`);
  await trx.raw('lock table requests in access exclusive mode');
  await trx.raw(`insert into unnumbered select id, 0 from requests
    where seq >= (select max(oldest) from unnumbered) and ${NOT_IN_TOTALS}`);
  await trx.raw(`create sequence request_numbers start ${FIRST_NUMBER} owned by requests.seq`);
  // A transaction has its own number before it numbers a record: see `postgres-requests.ts`.
  await trx.raw(`alter table requests alter column seq set default (
    case when pg_current_xact_id() is not null then nextval('request_numbers') end)`);
  await trx.raw(`update requests set seq = default
    where id in (select id from unnumbered where id is not null)`);
  await trx.raw(`update request_roll_up set upto = ${FIRST_NUMBER - 1n}`);
}
