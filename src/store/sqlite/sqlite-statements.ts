import type Sqlite from 'better-sqlite3';
import { SQLITE_CLOCK_MS } from '../database.js';
import type { CallRow } from '../idempotency/idempotency-keys.js';
import type { KeyFigures } from '../hot-path.js';
import { ALLOWANCE_LIST, type AllowanceOwner, type AllowanceRow } from '../limits/allowances.js';

/** Rows of the hottest statements are lists: making objects of them would double their cost. */
type KeyRow = [
  key_id: string,
  account_id: string,
  last_used_ms: number | null,
  expires_ms: number | null,
  models: string | null,
  suspended_ms: number | null,
  is_empty: number,
  key_rates: string | null,
  account_rates: string | null,
];

interface Figures {
  balance_nano: bigint;
  held_nano: bigint;
  suspended_ms: bigint | null;
}

/** The key is null where it has no limit, the windows where no allowance counts the hold. */
type EndedHold = [amount_nano: bigint, key_id: string | null, windows: string | null];

/** The statements that find the key of a request and note its use. */
export function prepareKeys(database: Sqlite.Database) {
  const caller = `select keys.id, account_id, last_used_ms, expires_ms, models, suspended_ms,
      balance_nano <= accounts.held_nano, keys.rates, accounts.rates
    from keys join accounts on accounts.id = account_id
    where revoked_ms is null`;
  return {
    caller: database.prepare<[string], KeyRow>(`${caller} and secret_sha256 = ?`).raw(),
    /** By the secret before the last rotation, until its overlap ends. */
    callerBefore: database
      .prepare<[string, now_ms: number], KeyRow>(
        `${caller} and previous_sha256 = ? and previous_until_ms > ?`,
      )
      .raw(),
    touch: database.prepare<[now_ms: number, key_id: string, now_ms: number]>(
      `update keys set last_used_ms = ? where id = ? and coalesce(last_used_ms, -1) < ?`,
    ),
    /** A row for a key that is refused: whether it has ended, or else is suspended. */
    refused: database
      .prepare<[now_ms: number, key_id: string, now_ms: number], [ended: number]>(
        `select revoked_ms is not null or ifnull(expires_ms <= ?, 0)
         from keys join accounts on accounts.id = account_id
         where keys.id = ?
           and (revoked_ms is not null or expires_ms <= ? or suspended_ms is not null)`,
      )
      .raw(),
  };
}

const TERMS = 'limit_nano, spent_nano, held_nano, revoked_ms, expires_ms';

/** Whether there is an allowance of an owner; the owner's ID is an SQL expression. */
const allowed = (owner_kind: AllowanceOwner, owner_id: string): string =>
  `exists (select 1 from allowances where owner_kind = '${owner_kind}' and owner_id = ${owner_id})`;

/** A key that takes a hold; `is_allowed` if it, or its account, has allowances. */
export interface HoldingKey extends KeyFigures {
  is_allowed: bigint;
}

/** The statement that holds and charges share. */
function prepareCount(database: Sqlite.Database) {
  return {
    count: database.prepare<[spent_nano: bigint, held_nano: bigint, key_id: string | null]>(
      'update keys set spent_nano = spent_nano + ?, held_nano = held_nano + ? where id = ?',
    ),
  };
}

type Admitted = [amount_nano: bigint, account_id: string, amount_nano: bigint];

/** The statements that take a hold, if the account and its key allow it. */
export function prepareHolds(database: Sqlite.Database) {
  const admit = `update accounts set held_nano = held_nano + ?
    where id = ? and balance_nano - held_nano >= ? and suspended_ms is null`;
  return {
    ...prepareCount(database),
    terms: database
      .prepare<[key_id: string], HoldingKey>(
        `select ${TERMS},
           ${allowed('account', 'account_id')} or ${allowed('key', 'keys.id')} as is_allowed
         from keys where id = ?`,
      )
      .safeIntegers(),
    admitAll: database.prepare<Admitted>(admit),
    /** Admits a hold that counts in the account alone. */
    admit: database.prepare<[...Admitted, key_id: string | null, now_ms: number]>(
      `${admit} and not ${allowed('account', 'accounts.id')} and not exists (
         select 1 from keys where keys.id = ?
           and (limit_nano is not null or revoked_ms is not null or expires_ms <= ?
             or ${allowed('key', 'keys.id')}))`,
    ),
    figures: prepareFigures(database),
  };
}

function prepareFigures(database: Sqlite.Database) {
  return database
    .prepare<[string], Figures>(
      'select balance_nano, held_nano, suspended_ms from accounts where id = ?',
    )
    .safeIntegers();
}

/** The statements that end a hold and take its charge from the balance. */
export function prepareCharges(database: Sqlite.Database) {
  return {
    ...prepareCount(database),
    terms: database
      .prepare<[key_id: string], KeyFigures>(`select ${TERMS} from keys where id = ?`)
      .safeIntegers(),
    endHold: database
      .prepare<[request_id: string, account_id: string], EndedHold>(
        `delete from holds where request_id = ? and account_id = ?
         returning amount_nano, key_id, windows`,
      )
      .raw()
      .safeIntegers(),
    figures: prepareFigures(database),
    pay: database.prepare<[spent_nano: bigint, freed_nano: bigint, account_id: string]>(
      'update accounts set balance_nano = balance_nano - ?, held_nano = held_nano - ? where id = ?',
    ),
    // Changes no row if the balance beside all other holds is too small.
    payAll: database.prepare<
      [spent_nano: bigint, freed_nano: bigint, account_id: string, beyond_nano: bigint]
    >(
      `update accounts set balance_nano = balance_nano - ?, held_nano = held_nano - ?
       where id = ? and balance_nano - held_nano >= ?`,
    ),
  };
}

/** The statements that count holds and charges in the windows of allowances. */
export function prepareAllowances(database: Sqlite.Database) {
  return {
    rows: database
      .prepare<[account_id: string, key_id: string | null], AllowanceRow>(
        `select ${ALLOWANCE_LIST} from allowances
         where (owner_kind = 'account' and owner_id = ?) or (owner_kind = 'key' and owner_id = ?)
         order by id`,
      )
      .safeIntegers(),
    hold: database.prepare<
      [begins_ms: bigint, ends_ms: bigint, spent_nano: bigint, held_nano: bigint, id: bigint]
    >(
      `update allowances set begins_ms = ?, ends_ms = ?, spent_nano = ?, held_nano = ?
       where id = ?`,
    ),
    /** What a window has left beside all holds. */
    left: database
      .prepare<[now_ms: number, id: bigint, begins_ms: bigint], bigint>(
        `select amount_nano + iif(extra_until_ms > ?, extra_nano, 0) - spent_nano - held_nano
         from allowances where id = ? and begins_ms = ?`,
      )
      .pluck()
      .safeIntegers(),
    end: database.prepare<[spent_nano: bigint, freed_nano: bigint, id: bigint, begins_ms: bigint]>(
      `update allowances set spent_nano = spent_nano + ?, held_nano = held_nano - ?
       where id = ? and begins_ms = ?`,
    ),
  };
}

/** The statements by which a process says that it is alive. */
export function prepareProcesses(database: Sqlite.Database) {
  return {
    enter: database.prepare(
      `insert into processes (id, place, pid, started_ms, seen_ms)
       values (?, ?, ?, ?, ${SQLITE_CLOCK_MS}) on conflict (id) do nothing`,
    ),
    heartbeat: database.prepare(
      `update processes
       set seen_ms = ${SQLITE_CLOCK_MS}, note = ifnull(?, note), box = ifnull(?, box) where id = ?`,
    ),
    leave: database.prepare<[id: string]>(
      `delete from processes where id = ? and not exists
         (select 1 from holds where holds.process_id = processes.id)`,
    ),
  };
}

/** The statements that begin, find, keep and forget repeatable requests. */
export function prepareIdempotency(database: Sqlite.Database) {
  return {
    begin: database.prepare(
      `insert into idempotency_keys
         (account_id, key_sha256, request_sha256, request_id, process_id, due_ms)
       values (?, ?, ?, ?, ?, ?)
       on conflict (account_id, key_sha256) do update set
         request_sha256 = excluded.request_sha256, request_id = excluded.request_id,
         process_id = excluded.process_id, due_ms = excluded.due_ms, status = null, answer = null
       where idempotency_keys.process_id is null and idempotency_keys.due_ms <= ?`,
    ),
    find: database.prepare<[account_id: string, key_sha256: string], CallRow>(
      `select request_sha256, process_id, status, answer from idempotency_keys
       where account_id = ? and key_sha256 = ?`,
    ),
    keep: database.prepare(
      `insert into idempotency_keys
         (account_id, key_sha256, request_sha256, request_id, due_ms, status, answer, free)
       values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (account_id, key_sha256) do update set
         process_id = null, status = excluded.status, answer = excluded.answer,
         free = excluded.free
       where idempotency_keys.request_id = excluded.request_id`,
    ),
    forget: database.prepare(
      `delete from idempotency_keys
       where account_id = ? and key_sha256 = ? and request_id = ? and process_id is not null`,
    ),
  };
}

/** A row of a counter; its counts fit numbers. */
type RateRow = [window_ms: number, requests: number, tokens: number, in_flight: number];

/** The statements that count requests by rates. */
export function prepareRates(database: Sqlite.Database) {
  return {
    read: database
      .prepare<[counter: string], RateRow>(
        'select window_ms, requests, tokens, in_flight from rates where counter = ?',
      )
      .raw(),
    write: database.prepare<[counter: string, ...RateRow]>(
      `insert into rates (counter, window_ms, requests, tokens, in_flight) values (?, ?, ?, ?, ?)
       on conflict (counter) do update set
         window_ms = excluded.window_ms, requests = excluded.requests, tokens = excluded.tokens,
         in_flight = excluded.in_flight`,
    ),
    occupy: database.prepare<
      [request_id: string, counter: string, process_id: string, now_ms: number]
    >(`insert into rate_slots (request_id, counter, process_id, created_ms) values (?, ?, ?, ?)`),
    free: database
      .prepare<[request_id: string], [counter: string]>(
        'delete from rate_slots where request_id = ? returning counter',
      )
      .raw(),
  };
}
