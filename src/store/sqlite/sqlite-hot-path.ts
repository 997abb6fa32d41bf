import { CHECKPOINT_PAGES, LATE_CHECKPOINT_PAGES, onSqlite, prepareSqlite } from '../database.js';
import { Checkpoints } from './checkpoints.js';
import { GroupCommit } from './group-commit.js';
import {
  ADMITTED,
  callerOf,
  chargeFault,
  holdFault,
  refusedKey,
  TOUCH_EVERY_MS,
  type HotPath,
} from '../hot-path.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import type { Process } from '../leases/leases.js';
import { openSqliteFile } from './sqlite-driver.js';
import { sqliteFault } from './sqlite-fault.js';
import { SqliteRecords } from './sqlite-records.js';
import { SqliteRequests } from './sqlite-requests.js';
import { SqliteIdempotency } from './sqlite-idempotency.js';
import { SqliteRates } from './sqlite-rates.js';
import type { ZoneCalendar } from '../limits/zone-calendar.js';
import { SqliteAllowances } from './sqlite-allowances.js';
import { SqliteCharges, SqliteHolds } from './sqlite-holds.js';
import { prepareKeys, prepareProcesses } from './sqlite-statements.js';
import type { HoldResult, Collected } from '../store-types.js';
import type { Caller } from '../../core/model.js';
import type { RequestRecord } from '../../core/request-record.js';
import type { Charge } from '../ledger/ledger-columns.js';
import type Sqlite from 'better-sqlite3';
import DataLoader from 'dataloader';

/**
 * The hot path on SQLite, on a connection of its own. To follow a write, read in this order: this
 * file; `group-commit.ts`, which commits writes together; `sqlite-file.ts`, which syncs them to the
 * disk; `checkpoints.ts`, which copies them from the log into the database; `sqlite-holds.ts`,
 * `sqlite-allowances.ts` and `sqlite-idempotency.ts`, which run the statements of `sqlite-bulk.ts`
 * and `sqlite-statements.ts`; `sqlite-records.ts` and `sqlite-requests.ts`, which write the records
 * of requests and their sums; `sqlite-rates.ts`, which counts requests by the minute.
 */
export class SqliteHotPath implements HotPath {
  readonly idempotency: SqliteIdempotency;
  readonly requests: SqliteRequests;
  readonly rates: SqliteRates;
  readonly #database: Sqlite.Database;
  readonly #checkpoints: Checkpoints;
  readonly #keys: ReturnType<typeof prepareKeys>;
  readonly #processes: ReturnType<typeof prepareProcesses>;
  readonly #group: GroupCommit;
  readonly #holds: SqliteHolds;
  readonly #charges: SqliteCharges;
  readonly #callers: DataLoader<string, Caller | undefined>;
  readonly #self: Process;
  readonly #now: () => number;
  #isRegistered = false;

  constructor(file: string, self: Process, now: () => number, calendar: ZoneCalendar) {
    this.#database = openSqliteFile(file);
    prepareSqlite(this.#database);
    // The group commit syncs the disk itself, off the event loop.
    this.#database.pragma('synchronous = NORMAL');
    // Otherwise every statement over many rows would write its undo journal to a file.
    this.#database.pragma('temp_store = MEMORY');
    this.#checkpoints = this.#makeCheckpoints();
    this.#keys = prepareKeys(this.#database);
    this.#processes = prepareProcesses(this.#database);
    this.#callers = batchedReads(this.#database, (sha256) => this.#caller(sha256));
    this.#self = self;
    this.#now = now;
    this.#group = new GroupCommit(this.#database, (isRetry) => {
      if (isRetry || !this.#isRegistered) this.#register();
    });
    this.idempotency = new SqliteIdempotency(this.#database, this.#group, self.id, now);
    this.rates = new SqliteRates(this.#database, this.#group, self.id, now);
    const allowances = new SqliteAllowances(this.#database, calendar);
    this.#holds = new SqliteHolds(this.#database, allowances, self.id, now);
    const keep = (call: EndedCall): void => this.idempotency.keep(call);
    const records = new SqliteRecords(this.#database, this.#group);
    this.requests = new SqliteRequests(this.#database, this.#group, records);
    this.#charges = new SqliteCharges(this.#database, allowances, keep, records, now);
  }

  /** Until the thread runs, and where it cannot, the commits of this connection make them. */
  #makeCheckpoints(): Checkpoints {
    const onChange = (isRunning: boolean): void => {
      const pages = isRunning ? LATE_CHECKPOINT_PAGES : CHECKPOINT_PAGES;
      this.#database.pragma(`wal_autocheckpoint = ${pages}`);
    };
    onChange(false);
    return new Checkpoints({ file: this.#database.name, onChange });
  }

  /** Reads the file each time: a key that another process revoked must be refused at once. */
  caller(secret_sha256: string): Promise<Caller | undefined> {
    return this.#callers.load(secret_sha256);
  }

  #caller(secret_sha256: string): Caller | undefined {
    const now_ms = this.#now();
    const row =
      this.#keys.caller.get(secret_sha256) ?? this.#keys.callerBefore.get(secret_sha256, now_ms);
    if (!row) return undefined;
    const [key_id, account_id, last_used_ms, expires_ms, models, ...others] = row;
    if (expires_ms !== null && expires_ms <= now_ms) return undefined;
    if (last_used_ms === null || now_ms - last_used_ms > TOUCH_EVERY_MS) {
      const touch = () => this.#keys.touch.run(now_ms, key_id, now_ms);
      // No caller waits for this update, and the next use of the key repeats it.
      this.#group.add(touch).catch(() => undefined);
    }
    // Reads of one key that arrive together share this object.
    const [suspended_ms, is_empty, key_rates, account_rates] = others;
    const state = { suspended_ms, is_empty: is_empty === 1, key_rates, account_rates };
    return callerOf({ key_id, account_id, models, ...state });
  }

  hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id: string | null = null,
  ): Promise<HoldResult> {
    const fault = holdFault(amount_nano);
    if (fault) return Promise.reject(fault);
    return this.#group.join(this.#holds, { request_id, account_id, amount_nano, key_id });
  }

  async admit(key_id: string): Promise<HoldResult> {
    const now_ms = this.#now();
    const row = await onSqlite(this.#database.name, () =>
      this.#keys.refused.get(now_ms, key_id, now_ms),
    );
    return row ? refusedKey(Boolean(row[0])) : ADMITTED;
  }

  charge(charge: Charge, answered?: EndedCall, record?: RequestRecord): Promise<Collected | false> {
    const fault = chargeFault(charge);
    if (fault) return Promise.reject(fault);
    return this.#group.join(this.#charges, { charge, answered, record }, true);
  }

  release(request_id: string, account_id: string): Promise<void> {
    return this.#group.add(() => this.#charges.release(request_id, account_id));
  }

  async heartbeat(note?: string, box?: string): Promise<void> {
    this.#group.check();
    await this.#group.add(() => {
      this.#register();
      this.#processes.heartbeat.run(note ?? null, box ?? null, this.#self.id);
    });
  }

  /**
   * Inserts the process row, which every hold refers to. A process that took this one for dead, or
   * a failed commit, can remove the row: then the hold fails, and its retry runs after this insert.
   */
  #register(): void {
    const { id, place, pid, started_ms } = this.#self;
    this.#processes.enter.run(id, place, pid, started_ms);
    this.#isRegistered = true;
  }

  /** Writes, because the ping must fail whenever a charge would: a full disk can still be read. */
  async ping(): Promise<void> {
    this.#group.check();
    await this.#group.add(() => {
      this.#processes.heartbeat.run(null, null, this.#self.id);
    });
  }

  async close(): Promise<void> {
    await this.#group.idle();
    await onSqlite(this.#database.name, () => this.#processes.leave.run(this.#self.id));
    await this.#checkpoints.close();
    this.#database.close();
  }
}

/**
 * Batches reads by key. Requests that go on in the same turn of the event loop share one read
 * transaction, because taking the lock costs more than the read, and equal keys share one read.
 * Nothing is cached between batches, so each answer is the current state of the file. A read that
 * fails, as when another connection holds the lock, is retried alone.
 */
export function batchedReads<Found>(
  database: Sqlite.Database,
  get: (key: string) => Found | undefined,
): DataLoader<string, Found | undefined> {
  const [begin, commit] = [database.prepare('begin'), database.prepare('commit')];
  const readAll = async (keys: readonly string[]): Promise<(Found | undefined | Error)[]> => {
    const found = new Map<string, Found | undefined>();
    const failed = new Map<string, Promise<Found | undefined | Error>>();
    const isShared = keys.length > 1;
    if (isShared) begin.run();
    for (const key of new Set(keys)) {
      try {
        found.set(key, get(key));
      } catch {
        const retried = onSqlite(database.name, () => get(key));
        failed.set(key, retried.catch(asError));
      }
    }
    if (isShared) commit.run();
    if (failed.size === 0) return keys.map((key) => found.get(key));
    return Promise.all(keys.map(async (key) => failed.get(key) ?? found.get(key)));
  };
  const readOrExplain: typeof readAll = async (keys) => {
    try {
      return await readAll(keys);
    } catch (error) {
      throw sqliteFault(database.name, error);
    }
  };
  return new DataLoader(readOrExplain, { cache: false });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
