import type { SqliteRecords } from './sqlite-records.js';
import type Sqlite from 'better-sqlite3';
import type { RequestRecord } from '../../core/request-record.js';
import { ROLL_UP_USAGE } from '../ledger/usage-days.js';
import {
  ACCOUNT_DAY,
  ROLL_UP_ACCOUNTS,
  ROLL_UP_LATENCIES,
  ROLL_UP_TOTALS,
} from '../requests/request-totals-sql.js';
import type { HotRequests } from '../requests/request-types.js';
import type { GroupCommit } from './group-commit.js';

/**
 * Records that one step adds to the totals: it takes about 6 ms, in which the event loop stands
 * still, and steps of a quarter take twice the time for each record (2026-11-29, as many calls as
 * one core makes).
 */
const ROLL_UP_ROWS = 2_000;
const ROLL_UP_ENTRIES = 1_000;
/** The most rows that one step of the sweep reads. */
const SWEEP_ROWS = 100;
/** The event loop stands still meanwhile. */
const SWEEP_STEP_MS = 5;

/** The records of requests on SQLite, and their totals, written through the group commit. */
export class SqliteRequests implements HotRequests {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(
    database: Sqlite.Database,
    private readonly group: GroupCommit,
    private readonly records: SqliteRecords,
  ) {
    this.#statements = prepare(database);
  }

  get lost(): number {
    return this.records.lost;
  }

  get written(): number {
    return this.records.written;
  }

  add(records: readonly RequestRecord[]): Promise<void> {
    return this.records.add(records);
  }

  async rollUp(): Promise<boolean> {
    // Without new records and entries there is nothing to write.
    if (!this.#statements.hasFresh.get()) return false;
    return this.group.add(() => {
      const hasRecords = this.#addRecords();
      return this.#addEntries() || hasRecords;
    });
  }

  /** Adds the next records to the totals. Returns whether there may be more. */
  #addRecords(): boolean {
    const { upto, next, totals, latencies, accounts, note } = this.#statements;
    const from = Number(upto.get() ?? 0);
    const to = next.get(from) ?? null;
    if (to === null) return false;
    totals.run(from, to);
    latencies.run(from, to);
    accounts.run(from, to);
    note.run(to);
    return to - from >= ROLL_UP_ROWS;
  }

  /** Adds the next entries of the ledger to the usage of days. */
  #addEntries(): boolean {
    const { ledgerId, nextEntry, usage, noteEntry } = this.#statements;
    const from = Number(ledgerId.get() ?? 0);
    const to = nextEntry.get(from) ?? null;
    if (to === null) return false;
    usage.run(from, to);
    noteEntry.run(to);
    return to - from >= ROLL_UP_ENTRIES;
  }

  sweepStep({ id, totals_ms }: { id: string; totals_ms: number }): Promise<number> {
    return this.group.add(() => {
      const { old, sweep, sweepAccount, keepUpto, totalsTables } = this.#statements;
      const end_ms = performance.now() + SWEEP_STEP_MS;
      let swept = 0;
      // Row by row by their keys: SQLite would read a whole table for a list of such keys.
      for (const [seq, ...known] of old.all(id)) {
        sweep.run(seq);
        sweepAccount.run(...known);
        swept += 1;
        if (performance.now() > end_ms) break;
      }
      if (swept > 0) keepUpto.run();
      for (const { oldest, remove } of totalsTables) {
        if (performance.now() > end_ms) break;
        for (const key of oldest.all(totals_ms)) {
          remove.run(...key);
          swept += 1;
          if (performance.now() > end_ms) break;
        }
      }
      return swept;
    });
  }
}

/** A row of a table of totals by its whole key. */
type Key = (string | number)[];

/** How one of the tables is swept; `condition` finds what is older than a time. */
function prepareSweep(
  database: Sqlite.Database,
  table: string,
  key: readonly string[],
  condition: string,
) {
  const names = key.join(', ');
  const same = key.map((name) => `${name} = ?`).join(' and ');
  const oldest = `select ${names} from ${table} where ${condition} limit ${SWEEP_ROWS}`;
  return {
    oldest: database.prepare<[before_ms: number], Key>(oldest).raw(),
    remove: database.prepare<Key>(`delete from ${table} where ${same}`),
  };
}

function prepare(database: Sqlite.Database) {
  const split = ['start_ms', 'account_id'];
  const totals = ['period', ...split, 'key_id', 'model', 'provider', 'status', 'agent'];
  const latencies = ['period', ...split, 'model', 'provider', 'kind', 'bucket'];
  const older = (period: string): string => `period = '${period}' and start_ms < ?`;
  return {
    hasFresh: database.prepare(
      `select 1 from request_roll_up
       where exists (select 1 from requests where seq > upto)
         or exists (select 1 from ledger where ledger.id > ledger_id)`,
    ),
    upto: database.prepare<[], number>('select upto from request_roll_up').pluck(),
    next: database
      .prepare<[from: number], number | null>(
        `select max(seq) from
           (select seq from requests where seq > ? order by seq limit ${ROLL_UP_ROWS})`,
      )
      .pluck(),
    totals: database.prepare(ROLL_UP_TOTALS('?', '?')),
    latencies: database.prepare(ROLL_UP_LATENCIES('?', '?')),
    accounts: database.prepare(ROLL_UP_ACCOUNTS('?', '?')),
    note: database.prepare<[upto: number]>('update request_roll_up set upto = ?'),
    ledgerId: database.prepare<[], number>('select ledger_id from request_roll_up').pluck(),
    nextEntry: database
      .prepare<[from: number], number | null>(
        `select max(id) from
           (select id from ledger where id > ? order by id limit ${ROLL_UP_ENTRIES})`,
      )
      .pluck(),
    usage: database.prepare(ROLL_UP_USAGE('sqlite', '?', '?')),
    noteEntry: database.prepare<[id: number]>('update request_roll_up set ledger_id = ?'),
    // A record that the totals do not have yet stays.
    old: database
      .prepare<[id: string], [seq: number, account_id: string, id: string]>(
        `select seq, account_id, id from
           (select seq, account_id, id from requests where id < ? order by id limit ${SWEEP_ROWS})
         where seq <= (select upto from request_roll_up)`,
      )
      .raw(),
    sweep: database.prepare<[seq: number]>('delete from requests where seq = ?'),
    sweepAccount: database.prepare<[account_id: string, id: string]>(
      'delete from request_accounts where account_id = ? and id = ?',
    ),
    // SQLite gives the number of the last row again once that row is deleted.
    keepUpto: database.prepare(
      `update request_roll_up
       set upto = min(upto, coalesce((select max(seq) from requests), 0))`,
    ),
    totalsTables: [
      prepareSweep(database, 'request_totals', totals, older('hour')),
      prepareSweep(database, 'request_totals', totals, older('day')),
      prepareSweep(database, 'request_totals', totals, older(ACCOUNT_DAY)),
      prepareSweep(database, 'request_latencies', latencies, older('hour')),
      prepareSweep(database, 'request_latencies', latencies, older('day')),
    ],
  };
}
