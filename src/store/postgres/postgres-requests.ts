import type { RequestRecord } from '../../core/request-record.js';
import { ROLL_UP_USAGE } from '../ledger/usage-days.js';
import { requestJson } from '../requests/request-columns.js';
import {
  ACCOUNT_DAY,
  ROLL_UP_ACCOUNTS,
  ROLL_UP_LATENCIES,
  ROLL_UP_TOTALS,
} from '../requests/request-totals-sql.js';
import type { HotRequests } from '../requests/request-types.js';
import { isDataError, type PostgresSession, type Query } from './postgres-session.js';

/** Records that one step adds to the totals, and rows that one step of the sweep deletes. */
const ROLL_UP_ROWS = 5_000;
const SWEEP_ROWS = 500;

/**
 * Only one process at a time adds to the totals, and none waits for it. `last` and `last_entry` are
 * the last record and entry that are visible before the transaction gets its own number, which the
 * lock gives it.
 */
const LOCK = `
  select upto, (select max(seq) from requests) as last,
    ledger_id, (select max(id) from ledger) as last_entry
  from request_roll_up for update skip locked`;

interface Marks {
  upto: string;
  last: string | null;
  ledger_id: string;
  last_entry: string | null;
}

/** The number of this transaction, the oldest one that runs, and the start of this server. */
const RUNNING = `
  select pg_current_xact_id()::text::bigint as own,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest,
    pg_postmaster_start_time()::text as server`;

/** The last of the next records to add to the totals. */
const NEXT = `
  select max(seq) as next from (
    select seq from requests where seq > $1::bigint and seq <= $2::bigint
    order by seq limit ${ROLL_UP_ROWS}
  ) as fresh`;

const NEXT_ENTRY = `
  select max(id) as next from (
    select id from ledger where id > $1::bigint and id <= $2::bigint
    order by id limit ${ROLL_UP_ROWS}
  ) as fresh`;

/** The last record and entry up to which none can appear any more. */
interface Ends {
  last: bigint;
  last_entry: bigint;
}

/**
 * A record whose number may follow a gap: a transaction that took a lower number may commit later.
 * A transaction gets its own number before it numbers a record, so that all which took a lower
 * number than `last` are older than the transaction `until`. When those have ended, the gaps up to
 * `last` stay empty. The same is true of the ledger: each entry is written after its account, key
 * or task was locked, which gives the transaction its number.
 */
interface Unsettled extends Ends {
  until: bigint;
  /** The numbers of transactions are those of this server, since this start. */
  server: string;
}

const SWEEP = `
  with swept as (
    delete from requests where id in (
      select id from requests where id < $1 and seq <= (select upto from request_roll_up)
      order by id limit ${SWEEP_ROWS} for update skip locked)
    returning account_id, id
  ), gone as (
    delete from request_accounts using swept
    where request_accounts.account_id = swept.account_id and request_accounts.id = swept.id
  )
  select id from swept`;

const SWEEP_TOTALS = `
  delete from request_totals where ctid = any(array(
    select ctid from request_totals
    where period in ('hour', 'day', '${ACCOUNT_DAY}') and start_ms < $1::bigint
    limit ${SWEEP_ROWS}))`;

const SWEEP_LATENCIES = `
  delete from request_latencies where ctid = any(array(
    select ctid from request_latencies
    where period in ('hour', 'day') and start_ms < $1::bigint limit ${SWEEP_ROWS}))`;

/** The records of requests on PostgreSQL. */
export class PostgresRequests implements HotRequests {
  lost = 0;
  written = 0;
  #unsettled: Unsettled | undefined;

  constructor(private readonly session: PostgresSession) {}

  async add(records: readonly RequestRecord[]): Promise<void> {
    try {
      await this.session.track(this.#add(records));
    } catch (error) {
      if (!isDataError(error)) throw error;
      if (records.length === 1) this.lost += 1;
      else for (const record of records) await this.add([record]);
    }
  }

  async #add(records: readonly RequestRecord[]): Promise<void> {
    await this.session.runIdempotent('record', [recordsJson(records)]);
    this.written += records.length;
  }

  async rollUp(): Promise<boolean> {
    const { session } = this;
    // Without new records there is nothing to write.
    if ((await session.run('freshRecord', [])).rowCount === 0) return false;
    return session.track(
      session.transaction(async (query) => {
        const { rows } = await query<Marks>(LOCK);
        const [marks] = rows;
        if (!marks) return false;
        const ends = await this.#settled(query, {
          last: BigInt(marks.last ?? 0),
          last_entry: BigInt(marks.last_entry ?? 0),
        });
        const hasRecords = await addRecords(query, marks.upto, ends.last);
        return (await addEntries(query, marks.ledger_id, ends.last_entry)) || hasRecords;
      }),
    );
  }

  /** If older transactions still run, these are the ends of an earlier call, or 0. */
  async #settled(query: Query, ends: Ends): Promise<Ends> {
    const { rows } = await query<{ own: string; oldest: string; server: string }>(RUNNING);
    const { own = '0', oldest = '0', server = '' } = rows[0] ?? {};
    if (oldest === own) {
      this.#unsettled = undefined;
      return ends;
    }
    const known = this.#unsettled?.server === server ? this.#unsettled : undefined;
    const isOver = known !== undefined && BigInt(oldest) >= known.until;
    if (!known || isOver) this.#unsettled = { ...ends, until: BigInt(own), server };
    return isOver ? known : { last: 0n, last_entry: 0n };
  }

  async sweepStep({ id, totals_ms }: { id: string; totals_ms: number }): Promise<number> {
    const { session } = this;
    const steps = [
      [SWEEP, id],
      [SWEEP_TOTALS, totals_ms],
      [SWEEP_LATENCIES, totals_ms],
    ] as const;
    let swept = 0;
    for (const [sql, before] of steps) {
      const { rowCount } = await session.track(
        session.transaction((query) => query(sql, [before])),
      );
      swept += rowCount ?? 0;
    }
    return swept;
  }
}

/** Records as a list of JSON, as the statements that write them take it. */
export function recordsJson(records: readonly RequestRecord[]): string {
  return JSON.stringify(records.map(requestJson));
}

/** Adds the next records to the totals. Resolves with whether there were some. */
async function addRecords(query: Query, upto: string, last: bigint): Promise<boolean> {
  const { rows } = await query<{ next: string | null }>(NEXT, [upto, last]);
  const { next = null } = rows[0] ?? {};
  if (next === null) return false;
  await query(ROLL_UP_TOTALS('$1::bigint', '$2::bigint'), [upto, next]);
  await query(ROLL_UP_LATENCIES('$1::bigint', '$2::bigint'), [upto, next]);
  await query(ROLL_UP_ACCOUNTS('$1::bigint', '$2::bigint'), [upto, next]);
  await query('update request_roll_up set upto = $1::bigint', [next]);
  return true;
}

/** Adds the next entries of the ledger to the usage of days. */
async function addEntries(query: Query, ledger_id: string, last: bigint): Promise<boolean> {
  const { rows } = await query<{ next: string | null }>(NEXT_ENTRY, [ledger_id, last]);
  const { next = null } = rows[0] ?? {};
  if (next === null) return false;
  await query(ROLL_UP_USAGE('postgres', '$1::bigint', '$2::bigint'), [ledger_id, next]);
  await query('update request_roll_up set ledger_id = $1::bigint', [next]);
  return true;
}
