import Sqlite from 'better-sqlite3';
import { isBusy, prepareSqlite } from '../database.js';
import { GroupCommit } from './group-commit.js';
import { checkCharge, checkHold, modelsIn, TOUCH_EVERY_MS, type HotPath } from '../hot-path.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import { BatchedReads } from './batched-reads.js';
import { withRetry } from '../retry.js';
import type { Process } from '../leases/leases.js';
import { SqliteIdempotency } from './sqlite-idempotency.js';
import { SqliteCharges } from './sqlite-charges.js';
import { SqliteHolds } from './sqlite-holds.js';
import { prepareKeys, prepareProcesses } from './sqlite-statements.js';
import type { HoldResult, Settled } from '../store-types.js';
import type { Caller } from '../../core/model.js';
import type { Charge } from '../ledger/ledger-columns.js';

/** The hot path on a SQLite file: prepared statements on a connection of its own, group commit. */
export class SqliteHot implements HotPath {
  readonly idempotency: SqliteIdempotency;
  readonly #database: Sqlite.Database;
  readonly #keys: ReturnType<typeof prepareKeys>;
  readonly #processes: ReturnType<typeof prepareProcesses>;
  readonly #group: GroupCommit;
  readonly #holds: SqliteHolds;
  readonly #charges: SqliteCharges;
  readonly #lookups: BatchedReads<Caller>;
  readonly #self: Process;
  readonly #now: () => number;
  #hasEntered = false;

  constructor(file: string, self: Process, now: () => number) {
    this.#database = new Sqlite(file);
    prepareSqlite(this.#database);
    // The group waits for the disk itself, beside the event loop.
    this.#database.pragma('synchronous = NORMAL');
    // What a statement over many rows keeps to undo itself by would else go into a file each time.
    this.#database.pragma('temp_store = MEMORY');
    this.#keys = prepareKeys(this.#database);
    this.#processes = prepareProcesses(this.#database);
    this.#lookups = new BatchedReads(this.#database, (sha256) => this.#caller(sha256));
    this.#self = self;
    this.#now = now;
    this.#group = new GroupCommit(this.#database, (again) => {
      if (again || !this.#hasEntered) this.#enter();
    });
    this.idempotency = new SqliteIdempotency(this.#database, this.#group, self.id, now);
    this.#holds = new SqliteHolds(this.#database, self.id, now);
    const keep = (call: EndedCall): void => this.idempotency.keep(call);
    this.#charges = new SqliteCharges(this.#database, keep, now);
  }

  /** Reads the file each time, so that a key that another process revoked is refused at once. */
  caller(secret_sha256: string): Promise<Caller | undefined> {
    return this.#lookups.add(secret_sha256);
  }

  #caller(secret_sha256: string): Caller | undefined {
    const row = this.#keys.caller.get(secret_sha256);
    if (!row) return undefined;
    const [key_id, account_id, last_used_ms, expires_ms, models] = row;
    const now_ms = this.#now();
    if (expires_ms !== null && expires_ms <= now_ms) return undefined;
    if (last_used_ms === null || now_ms - last_used_ms > TOUCH_EVERY_MS) {
      const touch = () => this.#keys.touch.run(now_ms, key_id, now_ms);
      // Nobody waits for this note, and the next use of the key makes it again.
      this.#group.add(touch).catch(() => undefined);
    }
    // All who ask at once with one key are given the same.
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
      this.#enter();
      this.#processes.beat.run(note ?? null, this.#self.id);
    });
  }

  /**
   * A hold needs the row of its process. If that was lost after all, to another process that took
   * this one for gone or to a commit that failed, the hold fails and is made again behind this.
   */
  #enter(): void {
    const { id, place, pid, started_ms } = this.#self;
    this.#processes.enter.run(id, place, pid, started_ms);
    this.#hasEntered = true;
  }

  /** In a transaction that could write, so that it fails where no other one could begin either. */
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
