import { isBusy, prepareSqlite } from '../database.js';
import { GroupCommit, collectBatch } from './group-commit.js';
import { checkCharge, checkHold, modelsIn, TOUCH_EVERY_MS, type HotPath } from '../hot-path.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import { withRetry } from '../retry.js';
import type { Process } from '../leases/leases.js';
import { SqliteIdempotency } from './sqlite-idempotency.js';
import { SqliteCharges, SqliteHolds } from './sqlite-holds.js';
import { prepareKeys, prepareProcesses } from './sqlite-statements.js';
import type { HoldResult, Settled } from '../store-types.js';
import type { Caller } from '../../core/model.js';
import type { Charge } from '../ledger/ledger-columns.js';
import Sqlite from 'better-sqlite3';

/**
 * The hot path on SQLite, on a connection of its own. To follow a write, read in this order: this
 * file; `group-commit.ts`, which commits writes together; `sqlite-file.ts`, which syncs them to the
 * disk; `sqlite-holds.ts` and `sqlite-idempotency.ts`, which run the statements of
 * `sqlite-statements.ts`.
 */
export class SqliteHot implements HotPath {
  readonly idempotency: SqliteIdempotency;
  readonly #database: Sqlite.Database;
  readonly #keys: ReturnType<typeof prepareKeys>;
  readonly #processes: ReturnType<typeof prepareProcesses>;
  readonly #group: GroupCommit;
  readonly #holds: SqliteHolds;
  readonly #charges: SqliteCharges;
  readonly #callers: BatchedReads<Caller>;
  readonly #self: Process;
  readonly #now: () => number;
  #isRegistered = false;

  constructor(file: string, self: Process, now: () => number) {
    this.#database = new Sqlite(file);
    prepareSqlite(this.#database);
    // The group commit syncs the disk itself, off the event loop.
    this.#database.pragma('synchronous = NORMAL');
    // Otherwise every statement over many rows would write its undo journal to a file.
    this.#database.pragma('temp_store = MEMORY');
    this.#keys = prepareKeys(this.#database);
    this.#processes = prepareProcesses(this.#database);
    this.#callers = new BatchedReads(this.#database, (sha256) => this.#caller(sha256));
    this.#self = self;
    this.#now = now;
    this.#group = new GroupCommit(this.#database, (isRetry) => {
      if (isRetry || !this.#isRegistered) this.#register();
    });
    this.idempotency = new SqliteIdempotency(this.#database, this.#group, self.id, now);
    this.#holds = new SqliteHolds(this.#database, self.id, now);
    const keep = (call: EndedCall): void => this.idempotency.keep(call);
    this.#charges = new SqliteCharges(this.#database, keep, now);
  }

  /** Reads the file each time: a key that another process revoked must be refused at once. */
  caller(secret_sha256: string): Promise<Caller | undefined> {
    return this.#callers.add(secret_sha256);
  }

  #caller(secret_sha256: string): Caller | undefined {
    const row = this.#keys.caller.get(secret_sha256);
    if (!row) return undefined;
    const [key_id, account_id, last_used_ms, expires_ms, models] = row;
    const now_ms = this.#now();
    if (expires_ms !== null && expires_ms <= now_ms) return undefined;
    if (last_used_ms === null || now_ms - last_used_ms > TOUCH_EVERY_MS) {
      const touch = () => this.#keys.touch.run(now_ms, key_id, now_ms);
      // No caller waits for this update, and the next use of the key repeats it.
      this.#group.add(touch).catch(() => undefined);
    }
    // Reads of one key that arrive together share this object.
    return Object.freeze({ key_id, account_id, models: modelsIn(models) });
  }

  async hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id: string | null = null,
  ): Promise<HoldResult> {
    checkHold(amount_nano);
    return this.#group.join(this.#holds, { request_id, account_id, amount_nano, key_id });
  }

  async hasEnded(key_id: string): Promise<boolean> {
    const ended = () => this.#keys.ended.get(key_id, this.#now());
    return (await withRetry(isBusy, ended)) !== undefined;
  }

  async settle(charge: Charge, answered?: EndedCall): Promise<Settled | false> {
    checkCharge(charge);
    return this.#group.join(this.#charges, { charge, answered }, true);
  }

  release(request_id: string, account_id: string): Promise<void> {
    return this.#group.add(() => this.#charges.release(request_id, account_id));
  }

  async beat(note?: string): Promise<void> {
    this.#group.check();
    await this.#group.add(() => {
      this.#register();
      this.#processes.beat.run(note ?? null, this.#self.id);
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

  /** Begins a write transaction: the ping must fail whenever a charge would. */
  async ping(): Promise<void> {
    this.#group.check();
    await this.#group.add(() => this.#processes.ping.get());
  }

  async close(): Promise<void> {
    await this.#group.idle();
    await withRetry(isBusy, () => this.#processes.leave.run(this.#self.id));
    this.#database.close();
  }
}

interface Read<Found> {
  key: string;
  resolve: (found: Found | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches reads by key: reads that arrive together share one read transaction, because taking the
 * lock costs more than the read, and equal keys share one read. It caches nothing between batches,
 * so each answer is the current state of the file.
 */
export class BatchedReads<Found> {
  readonly #get: (key: string) => Found | undefined;
  readonly #begin: () => void;
  readonly #commit: () => void;
  #waiting: Read<Found>[] = [];

  constructor(database: Sqlite.Database, get: (key: string) => Found | undefined) {
    const [begin, commit] = [database.prepare('begin'), database.prepare('commit')];
    this.#get = get;
    this.#begin = () => void begin.run();
    this.#commit = () => void commit.run();
  }

  add(key: string): Promise<Found | undefined> {
    return new Promise((resolve, reject) => {
      const isFirst = this.#waiting.push({ key, resolve, reject }) === 1;
      if (isFirst) collectBatch(this.#waiting, () => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const isShared = waiting.length > 1;
    const found = new Map<string, Found | undefined>();
    if (isShared) this.#begin();
    const failed = waiting.filter((read) => !this.#resolve(read, found));
    if (isShared) this.#commit();
    for (const { key, resolve, reject } of failed) {
      withRetry(isBusy, () => this.#get(key)).then(resolve, reject);
    }
  }

  /** False if the read failed, as when another connection holds the lock: it is retried alone. */
  #resolve({ key, resolve }: Read<Found>, found: Map<string, Found | undefined>): boolean {
    try {
      if (!found.has(key)) found.set(key, this.#get(key));
      resolve(found.get(key));
      return true;
    } catch {
      return false;
    }
  }
}
