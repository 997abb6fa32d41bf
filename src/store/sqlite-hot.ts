import Sqlite from 'better-sqlite3';
import type { Caller } from '../types.js';
import { isBusy, prepareSqlite } from './database.js';
import { Group } from './group.js';
import {
  checkCharge,
  checkHold,
  modelsIn,
  noAccount,
  refusalOf,
  tooLowBalance,
  tooMuchSpent,
  TOUCH_EVERY_MS,
} from './hot.js';
import type { Hot } from './hot.js';
import type { AnsweredCall } from './idempotency-types.js';
import { Lookups } from './lookups.js';
import { MAX_NANO, MIN_NANO } from './nano.js';
import { patiently } from './patience.js';
import type { Process } from './processes.js';
import { SqliteIdempotency } from './sqlite-idempotency.js';
import { prepare, type EndedHold } from './sqlite-sql.js';
import type { HoldResult } from './hold-types.js';
import type { Charge } from './types.js';

/** The hot path on a SQLite file: prepared statements on a connection of its own, group commit. */
export class SqliteHot implements Hot {
  readonly idempotency: SqliteIdempotency;
  readonly #database: Sqlite.Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #group: Group;
  readonly #lookups: Lookups<Caller>;
  readonly #self: Process;
  readonly #now: () => number;
  #hasEntered = false;

  constructor(file: string, self: Process, now: () => number) {
    this.#database = new Sqlite(file);
    prepareSqlite(this.#database);
    // The group waits for the disk itself, beside the event loop.
    this.#database.pragma('synchronous = NORMAL');
    this.#statements = prepare(this.#database);
    this.#lookups = new Lookups(this.#database, (sha256) => this.#caller(sha256));
    this.#self = self;
    this.#now = now;
    this.#group = new Group(this.#database, (again) => {
      if (again || !this.#hasEntered) this.#enter();
    });
    this.idempotency = new SqliteIdempotency(this.#database, this.#group, self.id, now);
  }

  /** Reads the file each time, so that a key that another process revoked is refused at once. */
  caller(secret_sha256: string): Promise<Caller | undefined> {
    return this.#lookups.add(secret_sha256);
  }

  #caller(secret_sha256: string): Caller | undefined {
    const row = this.#statements.caller.get(secret_sha256);
    if (!row) return undefined;
    const [key_id, account_id, last_used_ms, expires_ms, models] = row;
    const now_ms = this.#now();
    if (expires_ms !== null && expires_ms <= now_ms) return undefined;
    if (last_used_ms === null || now_ms - last_used_ms > TOUCH_EVERY_MS) {
      const touch = () => this.#statements.touch.run(now_ms, key_id, now_ms);
      // Nobody waits for this note, and the next use of the key makes it again.
      this.#group.add(touch).catch(() => undefined);
    }
    return { key_id, account_id, models: modelsIn(models) };
  }

  async hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id: string | null = null,
  ): Promise<HoldResult> {
    checkHold(amount_nano);
    return this.#group.add(() => this.#hold(request_id, account_id, amount_nano, key_id));
  }

  /** The first statement alone admits what most keys ask: they have no limit of their own. */
  #hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id: string | null,
  ): HoldResult {
    const statements = this.#statements;
    const now_ms = this.#now();
    const { id } = this.#self;
    const fits = amount_nano <= MAX_NANO;
    const admits = (key: string | null): boolean =>
      fits && statements.admit.run(amount_nano, account_id, amount_nano, key, now_ms).changes > 0;
    if (admits(key_id)) {
      statements.hold.run(request_id, account_id, id, amount_nano, now_ms, null);
      return { admitted: true };
    }
    const key = key_id === null ? undefined : statements.terms.get(key_id);
    const refusal = key && refusalOf(key, amount_nano, now_ms);
    if (refusal) return refusal;
    if (key && key.limit_nano !== null && admits(null)) {
      statements.count.run(0n, amount_nano, key_id);
      statements.hold.run(request_id, account_id, id, amount_nano, now_ms, key_id);
      return { admitted: true };
    }
    const figures = statements.figures.get(account_id);
    if (!figures) throw noAccount(account_id);
    const { balance_nano, held_nano } = figures;
    return { admitted: false, because: 'balance', balance_nano, held_nano };
  }

  async hasEnded(key_id: string): Promise<boolean> {
    const ended = () => this.#statements.ended.get(key_id, this.#now());
    return (await patiently(isBusy, ended)) !== undefined;
  }

  async settle(charge: Charge, answered?: AnsweredCall): Promise<boolean> {
    checkCharge(charge);
    return this.#group.addDurably(() => {
      if (answered) this.idempotency.keep(answered);
      return this.#settle(charge);
    });
  }

  #settle(charge: Charge): boolean {
    const statements = this.#statements;
    const { request_id, account_id, cost_nano } = charge;
    const written = statements.enterCharge.run(
      account_id,
      request_id,
      -cost_nano,
      charge.key_id,
      charge.model,
      charge.provider,
      charge.usage,
      charge.estimated ? 1 : 0,
      this.#now(),
    );
    const isFirst = written.changes > 0;
    const ended = statements.endHold.get(request_id, account_id);
    if (!isFirst && ended === undefined) return false;
    const spent_nano = isFirst ? cost_nano : 0n;
    const paid = this.#pay(account_id, spent_nano, ended?.[0] ?? 0n);
    if (paid.changes === 0) throw tooLowBalance(account_id);
    this.#countCharge(charge.key_id, spent_nano, ended);
    return isFirst;
  }

  /** A hold that names no key says that the key has no limit; without a hold the key says it. */
  #countCharge(key_id: string, spent_nano: bigint, ended: EndedHold | undefined): void {
    if (ended && ended[1] === null) return;
    const key = this.#statements.terms.get(key_id);
    if (!key || key.limit_nano === null) return;
    if (key.spent_nano + spent_nano > MAX_NANO) throw tooMuchSpent(key_id);
    this.#statements.count.run(spent_nano, -(ended?.[0] ?? 0n), key_id);
  }

  release(request_id: string, account_id: string): Promise<void> {
    return this.#group.add(() => {
      const ended = this.#statements.endHold.get(request_id, account_id);
      if (ended === undefined) return;
      const [amount_nano, key_id] = ended;
      this.#pay(account_id, 0n, amount_nano);
      if (key_id !== null) this.#statements.count.run(0n, -amount_nano, key_id);
    });
  }

  /** No row changes if the balance would pass the column, where SQLite would turn to floats. */
  #pay(account_id: string, spent_nano: bigint, freed_nano: bigint): Sqlite.RunResult {
    const least_nano = MIN_NANO + spent_nano;
    return this.#statements.pay.run(spent_nano, freed_nano, account_id, least_nano);
  }

  async beat(note?: string): Promise<void> {
    await this.#group.add(() => {
      this.#enter();
      this.#statements.beat.run(this.#now(), note ?? null, this.#self.id);
    });
  }

  /**
   * A hold needs the row of its process. If that was lost after all, to another process that took
   * this one for gone or to a commit that failed, the hold fails and is made again behind this.
   */
  #enter(): void {
    const { id, place, pid, started_ms } = this.#self;
    this.#statements.enter.run(id, place, pid, started_ms, this.#now());
    this.#hasEntered = true;
  }

  async ping(): Promise<void> {
    await patiently(isBusy, () => this.#statements.ping.get());
  }

  async close(): Promise<void> {
    await this.#group.idle();
    await patiently(isBusy, () => this.#statements.leave.run(this.#self.id));
    this.#database.close();
  }
}
