import { performance } from 'node:perf_hooks';
import type Sqlite from 'better-sqlite3';
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.js';
import { FLAGS, firstIdAt, type RequestRecord } from '../../src/core/request-record.js';
import {
  ROLL_UP_ACCOUNTS,
  ROLL_UP_LATENCIES,
  ROLL_UP_TOTALS,
} from '../../src/store/requests/request-totals-sql.js';
import { prepareBulk } from '../../src/store/sqlite/sqlite-bulk.js';
import { bindRecord, RECORD } from '../../src/store/sqlite/sqlite-records.js';

export const DAY_MS = 86_400_000;
/** The afternoon of a day, so that the last day of a range is not over. */
export const END_MS = Date.UTC(2026, 0, 31, 15);
export const START_MS = END_MS - 30 * DAY_MS;
const BATCH = 50_000;
const ACCOUNTS = 1_000;
const KEYS = 3;
const MODELS = 20;
const PROVIDERS = 4;
const OLD_MONTHS = 12;
const CREDIT_NANO = 10n ** 15n;
const COST_NANO = 250_000n;

export const accountAt = (at: number): string => `acc_${String(at).padStart(20, '0')}`;
export const keyAt = (account: number, at: number): string =>
  `key_${String(account * KEYS + at).padStart(20, '0')}`;

/**
 * Fills an empty store with a month of requests, their charges, and the totals of a year before.
 * It writes the file past the store: nobody waits for these rows, and none need survive a crash.
 * What an earlier run has written stays, and the rest is added.
 */
export function fillMonth(file: string, total: number): void {
  const database = openSqliteFile(file);
  database.pragma('synchronous = OFF');
  database.pragma('cache_size = -2000000');
  const written = Number(
    database.prepare('select upto from request_roll_up').pluck().get() as number,
  );
  if (written === 0) addAccounts(database);
  if (written < total) addRequests(database, written, total);
  const oldest = database
    .prepare(`select min(start_ms) from request_totals where period = 'day'`)
    .pluck()
    .get() as number;
  if (oldest > START_MS - DAY_MS) addOldTotals(database);
  database.close();
}

function addAccounts(database: Sqlite.Database): void {
  const account = database.prepare(
    `insert into accounts (id, name, balance_nano, held_nano, created_ms) values (?, ?, ?, 0, ?)`,
  );
  const key = database.prepare(
    `insert into keys (id, account_id, name, prefix, secret_sha256, created_ms)
     values (?, ?, ?, 'tg-none', ?, ?)`,
  );
  const credit = database.prepare(
    `insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
     values (?, 'credit', 'opening credit', ?, 0, ?)`,
  );
  database.transaction(() => {
    for (let at = 0; at < ACCOUNTS; at += 1) {
      account.run(accountAt(at), `account ${at}`, CREDIT_NANO, START_MS);
      credit.run(accountAt(at), CREDIT_NANO, START_MS);
      for (let one = 0; one < KEYS; one += 1) {
        key.run(keyAt(at, one), accountAt(at), `key ${one}`, keyAt(at, one), START_MS);
      }
    }
  })();
}

function addRequests(database: Sqlite.Database, written: number, total: number): void {
  const insert = prepareBulk(database, RECORD, bindRecord);
  const charge = database.prepare(
    `insert into ledger (account_id, kind, reference, amount_nano, key_id, model, provider, usage,
       estimated, created_ms) values (?, 'charge', ?, ?, ?, ?, ?, ?, 0, ?)`,
  );
  const pay = database.prepare(
    `update accounts set balance_nano =
       (select sum(amount_nano) from ledger where account_id = accounts.id)`,
  );
  const steps = [ROLL_UP_TOTALS, ROLL_UP_ACCOUNTS, ROLL_UP_LATENCIES].map((sql) =>
    database.prepare<{ from: number; to: number }>(sql('$from', '$to')),
  );
  const note = database.prepare('update request_roll_up set upto = ?');
  const usage = JSON.stringify({ prompt_tokens: 900, completion_tokens: 200 });
  const began = performance.now();
  for (let from = written; from < total; from += BATCH) {
    const to = Math.min(from + BATCH, total);
    database.transaction(() => {
      for (let at = from; at < to; at += 1) {
        const record = recordOf(at, total);
        const { account_id, id, key_id, model, provider, time_ms } = record;
        insert([record]);
        if (record.code !== null) continue;
        charge.run(account_id, id, -COST_NANO, key_id, model, provider, usage, time_ms);
      }
      for (const step of steps) step.run({ from, to });
      note.run(to);
    })();
    if (to % 500_000 === 0) console.log(`${to} rows, ${seconds(began)} s`);
  }
  pay.run();
}

/**
 * Totals of the months before, whose records are swept: all days, and the hours of all accounts
 * together and of a few.
 */
function addOldTotals(database: Sqlite.Database): void {
  const accounts = ['', ...[0, 2, 3, ACCOUNTS - 1].map(accountAt)].map((id) => `'${id}'`).join();
  for (const table of ['request_totals', 'request_latencies']) {
    const columns = database.pragma(`table_info(${table})`) as { name: string }[];
    const names = columns.map(({ name }) => name).join();
    const shifted = names.replace('start_ms', `start_ms - $months * ${30 * DAY_MS}`);
    const copy = database.prepare<{ months: number }>(
      `insert or ignore into ${table} (${names}) select ${shifted} from ${table}
       where start_ms >= ${START_MS - (START_MS % DAY_MS) + DAY_MS}
         and (period = 'day' or account_id in (${accounts}))`,
    );
    for (let months = OLD_MONTHS; months > 0; months -= 1) {
      const { changes } = copy.run({ months });
      console.log(`${changes} rows of ${table}, ${months} months before`);
    }
  }
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1_000).toFixed(0);
}

/** A number from 0 to 1, the same for the same number. */
function share(at: number, salt: number): number {
  const mixed = Math.imul(at ^ (at >>> 15), 0x2c1b3c6d + 2 * salt) ^ (at >>> 7);
  return ((Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

/** Models of which there are a few each hour, one each hour, and one each day. */
function rareModel(at: number): string | undefined {
  if (at % 5_000 === 3) return 'rare-hourly';
  if (at % 20_000 === 7) return 'rare';
  return at % 400_000 === 11 ? 'rare-daily' : undefined;
}

/** The first account has a third of all requests, the last ones have some each hour. */
function recordOf(at: number, total: number): RequestRecord {
  const time_ms = Math.floor(START_MS + (at / total) * (END_MS - START_MS));
  const account = Math.floor(ACCOUNTS * share(at, 1) ** 6);
  const rare = rareModel(at);
  const model = rare ?? `model-${Math.floor(MODELS * share(at, 2) ** 2)}`;
  const fails = share(at, 3) < 0.01;
  const provider = rare ? 'spare' : `provider-${Math.floor(PROVIDERS * share(at, 4))}`;
  const id = `${firstIdAt(time_ms)}-7${at.toString(16).padStart(11, '0')}-${'8'.repeat(10)}`;
  const none = { fault: null, status: null, codes: null, message: null };
  return {
    id,
    time_ms,
    account_id: accountAt(account),
    key_id: keyAt(account, at % KEYS),
    endpoint: 'chat',
    model,
    provider,
    upstream_model: model,
    agent: 'claude-cli',
    attempts: [{ provider, model, ...none, took_ms: 900 }],
    status: fails ? 502 : 200,
    code: fails ? 'upstream_error' : null,
    streamed: at % 2 === 0,
    prompt_tokens: 900,
    completion_tokens: 200,
    cached_tokens: at % 3 === 0 ? 500 : null,
    cache_write_tokens: null,
    cache_write_1h_tokens: null,
    audio_input_tokens: null,
    image_input_tokens: null,
    audio_output_tokens: null,
    image_output_tokens: null,
    reasoning_tokens: null,
    units: null,
    auth_ms: 0.2,
    read_ms: 0.9,
    hold_ms: 1.6,
    first_token_ms: at % 2 === 0 ? 100 + 400 * share(at, 5) : null,
    took_ms: 200 + 3_000 * share(at, 6) ** 4,
    own_ms: 2,
    cost_nano: fails ? 0n : COST_NANO,
    uncollected_nano: 0n,
    upstream_cost_nano: fails ? null : COST_NANO,
    saved_nano: 0n,
    lost_nano: 0n,
    flags: at % 100 === 0 ? FLAGS.estimated : 0,
    is_kept: false,
  };
}
