import { performance } from 'node:perf_hooks';
import type { Knex } from 'knex';
import { FLAGS } from '../../src/core/request-record.js';
import { placeOfStore } from '../../src/core/store-place.js';
import { openDatabase, type Database } from '../../src/store/database.js';
import { ROLL_UP_USAGE } from '../../src/store/ledger/usage-days.js';
import {
  ROLL_UP_ACCOUNTS,
  ROLL_UP_LATENCIES,
  ROLL_UP_TOTALS,
} from '../../src/store/requests/request-totals-sql.js';

export const DAY_MS = 86_400_000;
/** The afternoon of a day, so that the last day of a range is not over. */
export const END_MS = Date.UTC(2026, 0, 31, 15);
export const START_MS = END_MS - 30 * DAY_MS;
const BATCH = 250_000;
const ACCOUNTS = 1_000;
const KEYS = 3;
const MODELS = 20;
const PROVIDERS = 4;
const OLD_MONTHS = 12;
const CREDIT_NANO = 10n ** 15n;
const COST_NANO = 250_000n;

const ACCOUNT = 'acc_';
const KEY = 'key_';
const DIGITS = 20;
export const accountAt = (at: number): string => ACCOUNT + String(at).padStart(DIGITS, '0');
export const keyAt = (account: number, at: number): string =>
  KEY + String(account * KEYS + at).padStart(DIGITS, '0');

/** SQL that the databases write differently. */
interface Dialect {
  decimal: (number: string, digits: number) => string;
  hex: (number: string, digits: number) => string;
  /** A table `at` with the column `n`, from one number to before another. */
  numbers: (from: number, to: number) => string;
}

const DIALECTS: Record<Database['dialect'], Dialect> = {
  sqlite: {
    decimal: (number, digits) => `printf('%0${digits}d', ${number})`,
    hex: (number, digits) => `printf('%0${digits}x', ${number})`,
    numbers: (from, to) => `at (n) as (select ${from} union all
      select n + 1 from at where n + 1 < ${to})`,
  },
  postgres: {
    decimal: (number, digits) => `lpad((${number})::text, ${digits}, '0')`,
    hex: (number, digits) => `lpad(to_hex(${number}), ${digits}, '0')`,
    numbers: (from, to) => `at (n) as (select generate_series(${from}::bigint, ${to - 1}::bigint))`,
  },
};

/**
 * Fills an empty store with a month of requests, their charges, and the totals of a year before.
 * It writes past the program: nobody waits for these rows, and none need survive a crash. In SQLite
 * the rest is added to what an earlier run has written.
 */
export async function fillMonth(url: string, total: number): Promise<void> {
  const database = openDatabase({ ...placeOfStore(url), statement_ms: 0 });
  const { dialect } = database;
  const { seq: last } = await database.read(marksOf);
  const written = Number(last);
  if (written === 0) await database.write((trx) => addAccounts(trx, DIALECTS[dialect]));
  const began = performance.now();
  if (dialect === 'postgres') {
    if (written === 0) await database.write((trx) => fillAtOnce(trx, total));
  } else {
    await database.read((knex) => knex.raw('pragma synchronous = off'));
    await database.read((knex) => knex.raw('pragma cache_size = -2000000'));
    for (let from = written; from < total; from += BATCH) {
      const to = Math.min(from + BATCH, total);
      await database.write((trx) => addRequests(trx, dialect, { from, to, total }));
      console.log(`${to} rows, ${((performance.now() - began) / 1_000).toFixed(0)} s`);
    }
  }
  if (written < total) await database.write(pay);
  // The statistics of PostgreSQL come by themselves, but later; SQLite has none.
  if ((await database.write(addOldTotals)) && dialect === 'postgres') {
    await database.read((knex) => knex.raw('analyze').then(() => undefined));
  }
  console.log(`filled in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  await database.close();
}

const FILLED = [
  'requests',
  'ledger',
  'request_totals',
  'request_accounts',
  'request_latencies',
  'usage_days',
];

/** Builds the indexes of PostgreSQL afterwards: row by row they take most of the time. */
async function fillAtOnce(trx: Knex, total: number): Promise<void> {
  await trx.raw(`set local session_replication_role = replica`);
  await trx.raw(`set local work_mem = '256MB'; set local maintenance_work_mem = '512MB'`);
  await trx.raw('set local jit = off');
  interface Index {
    table: string;
    name: string;
    constraint: string | null;
    sql: string;
  }
  const { rows } = await trx.raw<{ rows: Index[] }>(`
    select c.relname as table, i.relname as name, con.conname as constraint,
      coalesce('alter table ' || c.relname || ' add constraint ' || con.conname || ' ' ||
        pg_get_constraintdef(con.oid), pg_get_indexdef(i.oid)) as sql
    from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      left join pg_constraint con on con.conindid = i.oid and con.contype in ('p', 'u')
    where c.relnamespace = current_schema()::regnamespace
      and c.relname in (${FILLED.map((name) => `'${name}'`).join()})`);
  for (const { table, name, constraint } of rows) {
    const drop = constraint === null ? `drop index ${name}` : undefined;
    await trx.raw(drop ?? `alter table ${table} drop constraint ${constraint}`);
  }
  await addRequests(trx, 'postgres', { from: 0, to: total, total });
  for (const { sql } of rows) await trx.raw(sql);
}

async function addAccounts(trx: Knex, { decimal, numbers }: Dialect): Promise<void> {
  const account = `'${ACCOUNT}' || ${decimal('n', DIGITS)}`;
  const key = `'${KEY}' || ${decimal('n', DIGITS)}`;
  const owner = `'${ACCOUNT}' || ${decimal(`n / ${KEYS}`, DIGITS)}`;
  await trx.raw(`insert into accounts (id, name, balance_nano, held_nano, created_ms)
    with recursive ${numbers(0, ACCOUNTS)}
    select ${account}, 'account ' || n, ${CREDIT_NANO}, 0, ${START_MS} from at`);
  await trx.raw(`insert into ledger
      (account_id, kind, reference, amount_nano, estimated, created_ms)
    with recursive ${numbers(0, ACCOUNTS)}
    select ${account}, 'credit', 'opening credit', ${CREDIT_NANO}, false, ${START_MS} from at`);
  await trx.raw(`insert into keys (id, account_id, name, prefix, secret_sha256, created_ms)
    with recursive ${numbers(0, ACCOUNTS * KEYS)}
    select ${key}, ${owner}, 'key ' || n, 'tg-none', ${key}, ${START_MS} from at`);
}

interface Part {
  from: number;
  to: number;
  total: number;
}

async function addRequests(trx: Knex, dialect: Database['dialect'], part: Part): Promise<void> {
  const marks = await marksOf(trx);
  await trx.raw(requestsSql(DIALECTS[dialect], part));
  const [seq, upto] = [marks.seq, (await marksOf(trx)).seq].map(String) as [string, string];
  const usage = JSON.stringify({ prompt_tokens: 900, completion_tokens: 200 });
  await trx.raw(`insert into ledger (account_id, kind, reference, amount_nano, key_id, model,
      provider, upstream_model, usage, estimated, created_ms, cached_tokens, agent, cost_nano)
    select account_id, 'charge', id, -cost_nano, key_id, model, provider, upstream_model,
      '${usage}', false, time_ms, cached_tokens, agent, upstream_cost_nano
    from requests where seq > ${seq} and seq <= ${upto} and code is null order by seq`);
  const { ledger_id } = await marksOf(trx);
  const steps = [
    ...[ROLL_UP_TOTALS, ROLL_UP_ACCOUNTS, ROLL_UP_LATENCIES].map((step) => step(seq, upto)),
    ROLL_UP_USAGE(dialect, String(marks.ledger_id), String(ledger_id)),
  ];
  // Without an index PostgreSQL knows no conflict, and there is none.
  for (const sql of steps) {
    await trx.raw(dialect === 'postgres' ? sql.replace(/on conflict .*/su, '') : sql);
  }
  await trx.raw(`update request_roll_up set upto = ${upto}, ledger_id = ${ledger_id}`);
}

/** The last record and the last entry of the ledger. */
async function marksOf(trx: Knex): Promise<{ seq: bigint; ledger_id: bigint }> {
  const row: { seq: bigint | null; ledger_id: bigint | null } | undefined = await trx.first({
    seq: trx('requests').max('seq'),
    ledger_id: trx('ledger').max('id'),
  });
  return { seq: row?.seq ?? 0n, ledger_id: row?.ledger_id ?? 0n };
}

/** Multipliers whose products, cut to 32 bits, follow no common pattern. */
const SALTS = [2654435761, 2246822519, 3266489917, 668265263, 374761393, 1540483477] as const;

/** SQL for a number from 0 to below 1, the same for the same row. */
function share(salt: number): string {
  const mixed = `((n * ${SALTS[salt]}) % 4294967296)`;
  return `(cast((${mixed} / 65536 * 40503 + ${mixed}) % 1048576 as double precision) / 1048576)`;
}

/**
 * The first account has a third of all requests, the last ones have some each hour. Of some models
 * there are a few each hour, one each hour, and one each day.
 */
function requestsSql({ decimal, hex, numbers }: Dialect, { from, to, total }: Part): string {
  const toWhole = (sql: string): string => `cast(floor(${sql}) as bigint)`;
  const time = `${START_MS} + n * ${END_MS - START_MS} / ${total}`;
  const sixth = Array.from({ length: 6 }, () => share(0)).join(' * ');
  return `insert into requests (id, time_ms, account_id, key_id, endpoint, model, provider,
      upstream_model, agent, status, code, streamed, prompt_tokens, completion_tokens,
      cached_tokens, auth_ms, read_ms, hold_ms, first_token_ms, took_ms, own_ms, cost_nano,
      upstream_cost_nano, flags)
    with recursive ${numbers(from, to)}, drawn as (
      select n, ${time} as time_ms, ${toWhole(`${ACCOUNTS} * ${sixth}`)} as account,
        case when n % 5000 = 3 then 'rare-hourly' when n % 20000 = 7 then 'rare'
          when n % 400000 = 11 then 'rare-daily' end as rare,
        'model-' || ${toWhole(`${MODELS} * ${share(1)} * ${share(1)}`)} as usual,
        'provider-' || ${toWhole(`${PROVIDERS} * ${share(3)}`)} as provider,
        ${share(2)} < 0.01 as fails, ${share(4)} as first, ${share(5)} as took
      from at)
    select ${hex('time_ms / 65536', 8)} || '-' || ${hex('time_ms % 65536', 4)} || '-7' ||
        ${hex('n', 11)} || '-8888888888', time_ms,
      '${ACCOUNT}' || ${decimal('account', DIGITS)},
      '${KEY}' || ${decimal(`account * ${KEYS} + n % ${KEYS}`, DIGITS)}, 'chat',
      coalesce(rare, usual), case when rare is null then provider else 'spare' end,
      coalesce(rare, usual), 'claude-cli', case when fails then 502 else 200 end,
      case when fails then 'upstream_error' end, n % 2 = 0, 900, 200,
      case when n % 3 = 0 then 500 end, 0.2, 0.9, 1.6,
      case when n % 2 = 0 then 100 + 400 * first end, 200 + 3000 * took * took * took * took, 2,
      case when fails then 0 else ${COST_NANO} end, case when not fails then ${COST_NANO} end,
      case when n % 100 = 0 then ${FLAGS.estimated} else 0 end
    from drawn order by n`;
}

async function pay(trx: Knex): Promise<void> {
  await trx.raw(`update accounts set balance_nano =
    (select sum(amount_nano) from ledger where account_id = accounts.id)`);
}

/**
 * Totals of the months before, whose records are swept: the days of all accounts together and of a
 * few, and the hours of all accounts together and of small ones. False if they are there already.
 */
async function addOldTotals(trx: Knex): Promise<boolean> {
  const old = trx('request_totals')
    .where({ period: 'day' })
    .where('start_ms', '<', START_MS - DAY_MS);
  if ((await old.first('calls')) !== undefined) return false;
  const listed = (numbers: readonly number[]): string =>
    ['', ...numbers.map(accountAt)].map((id) => `'${id}'`).join();
  const few = listed([0, 2, 3, ACCOUNTS - 1]);
  const small = listed([ACCOUNTS - 2, ACCOUNTS - 1]);
  const firstDay = START_MS - (START_MS % DAY_MS) + DAY_MS;
  const ofPeriods = `period in ('hour', 'day', 'account_day') and start_ms >= ${firstDay}
    and (account_id in (${small}) or (period <> 'hour' and account_id in (${few})))`;
  const conditions = {
    request_totals: ofPeriods,
    request_latencies: ofPeriods,
    usage_days: `day_ms >= ${firstDay} and account_id in (${few})`,
  };
  for (const [table, condition] of Object.entries(conditions)) {
    const names = Object.keys(await trx(table).columnInfo()).join();
    for (let months = OLD_MONTHS; months > 0; months -= 1) {
      const shifted = names.replace(/(?:start|day)_ms/u, `$& - ${months * 30 * DAY_MS}`);
      await trx.raw(`insert into ${table} (${names}) select ${shifted} from ${table}
        where ${condition} on conflict do nothing`);
    }
  }
  return true;
}
