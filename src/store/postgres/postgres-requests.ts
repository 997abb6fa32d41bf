import type { RequestRecord } from '../../core/request-record.js';
import { requestJson } from '../requests/request-columns.js';
import {
  ACCOUNT_DAY,
  ROLL_UP_ACCOUNTS,
  ROLL_UP_LATENCIES,
  ROLL_UP_TOTALS,
} from '../requests/request-totals-sql.js';
import type { HotRequests } from '../requests/request-types.js';
import { OLDEST_TRANSACTION } from './postgres-statements.js';
import { isDataError, type PostgresSession } from './postgres-session.js';

/** Records that one step adds to the totals, and rows that one step of the sweep deletes. */
const ROLL_UP_ROWS = 5_000;
const SWEEP_ROWS = 500;

/**
 * The numbers of the next records to add to the totals. A record has the number of its transaction,
 * and all transactions before the oldest one that still runs are over: no record can come between
 * them any more. A cluster that was restored begins its numbers anew, and so does the total.
 */
const NEXT = `
  select least(upto, oldest - 1) as upto, (
    select max(seq) from (select seq from requests
      where seq > least(upto, oldest - 1) and seq < oldest order by seq limit ${ROLL_UP_ROWS}
    ) as fresh
  ) as next
  from request_roll_up,
    (select ${OLDEST_TRANSACTION} as oldest) as running`;

/** Only one process at a time adds to the totals, and none waits for it. */
const LOCK = 'select upto from request_roll_up for update skip locked';

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
        if ((await query(LOCK)).rowCount === 0) return false;
        const { rows } = await query<{ upto: string; next: string | null }>(NEXT);
        const { upto = '0', next = null } = rows[0] ?? {};
        if (next === null) return false;
        const added = await query(ROLL_UP_TOTALS('$1::bigint', '$2::bigint'), [upto, next]);
        await query(ROLL_UP_LATENCIES('$1::bigint', '$2::bigint'), [upto, next]);
        await query(ROLL_UP_ACCOUNTS('$1::bigint', '$2::bigint'), [upto, next]);
        await query('update request_roll_up set upto = $1::bigint', [next]);
        return (added.rowCount ?? 0) > 0;
      }),
    );
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
