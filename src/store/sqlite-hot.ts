import Sqlite from 'better-sqlite3';
import type { Caller } from '../types.js';
import { isBusy, prepareSqlite } from './database.js';
import { Group } from './group.js';
import { checkCharge, checkHold, noAccount, tooLowBalance, TOUCH_EVERY_MS } from './hot.js';
import type { Hot } from './hot.js';
import { Lookups } from './lookups.js';
import { MAX_NANO, MIN_NANO } from './nano.js';
import { patiently } from './patience.js';
import type { Process } from './processes.js';
import type { Charge, HoldResult } from './types.js';

interface KeyRow {
  key_id: string;
  account_id: string;
  last_used_ms: number | null;
}

interface Figures {
  balance_nano: bigint;
  held_nano: bigint;
}

/** The hot path on a SQLite file: prepared statements on a connection of its own, group commit. */
export class SqliteHot implements Hot {
  readonly #database: Sqlite.Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #group: Group;
  readonly #lookups: Lookups<KeyRow>;
  readonly #self: Process;
  readonly #now: () => number;

  constructor(file: string, self: Process, now: () => number) {
    this.#database = new Sqlite(file);
    prepareSqlite(this.#database);
    // The group waits for the disk itself, beside the event loop.
    this.#database.pragma('synchronous = NORMAL');
    this.#statements = prepare(this.#database);
    this.#lookups = new Lookups(this.#database, (sha256) => this.#statements.caller.get(sha256));
    this.#self = self;
    this.#now = now;
    this.#group = new Group(this.#database, () => {
      this.#statements.enter.run(self.id, self.place, self.pid, self.started_ms, now());
    });
  }

  /** Reads the file each time, so that a key that another process revoked is refused at once. */
  async caller(secret_sha256: string): Promise<Caller | undefined> {
    const row = await this.#lookups.add(secret_sha256);
    if (!row) return undefined;
    const { key_id, account_id, last_used_ms } = row;
    const now_ms = this.#now();
    if (last_used_ms === null || now_ms - last_used_ms > TOUCH_EVERY_MS) {
      const touch = () => this.#statements.touch.run(now_ms, key_id, now_ms);
      // Nobody waits for this note, and the next use of the key makes it again.
      this.#group.add(touch).catch(() => undefined);
    }
    return { key_id, account_id };
  }

  async hold(request_id: string, account_id: string, amount_nano: bigint): Promise<HoldResult> {
    checkHold(amount_nano);
    return this.#group.add(() => this.#hold(request_id, account_id, amount_nano));
  }

  #hold(request_id: string, account_id: string, amount_nano: bigint): HoldResult {
    const statements = this.#statements;
    const fits = amount_nano <= MAX_NANO;
    if (fits && statements.admit.run(amount_nano, account_id, amount_nano).changes > 0) {
      statements.hold.run(request_id, account_id, this.#self.id, amount_nano, this.#now());
      return { admitted: true };
    }
    const figures = statements.figures.get(account_id);
    if (!figures) throw noAccount(account_id);
    return { admitted: false, ...figures };
  }

  async settle(charge: Charge): Promise<boolean> {
    checkCharge(charge);
    return this.#group.addDurably(() => this.#settle(charge));
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
    const ended_nano = statements.endHold.get(request_id, account_id);
    if (!isFirst && ended_nano === undefined) return false;
    const spent_nano = isFirst ? cost_nano : 0n;
    const paid = this.#pay(account_id, spent_nano, ended_nano ?? 0n);
    if (paid.changes === 0) throw tooLowBalance(account_id);
    return isFirst;
  }

  async release(request_id: string, account_id: string): Promise<void> {
    return this.#group.add(() => {
      const freed_nano = this.#statements.endHold.get(request_id, account_id);
      if (freed_nano === undefined) return;
      this.#pay(account_id, 0n, freed_nano);
    });
  }

  /** No row changes if the balance would pass the column, where SQLite would turn to floats. */
  #pay(account_id: string, spent_nano: bigint, freed_nano: bigint): Sqlite.RunResult {
    const least_nano = MIN_NANO + spent_nano;
    return this.#statements.pay.run(spent_nano, freed_nano, account_id, least_nano);
  }

  async beat(note?: string): Promise<void> {
    const { id } = this.#self;
    await this.#group.add(() => this.#statements.beat.run(this.#now(), note ?? null, id));
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

function prepare(database: Sqlite.Database) {
  return {
    caller: database.prepare<[string], KeyRow>(
      `select id as key_id, account_id, last_used_ms from keys
       where secret_sha256 = ? and revoked_ms is null`,
    ),
    touch: database.prepare<[now_ms: number, key_id: string, now_ms: number]>(
      `update keys set last_used_ms = ? where id = ? and coalesce(last_used_ms, -1) < ?`,
    ),
    admit: database.prepare<[amount_nano: bigint, account_id: string, amount_nano: bigint]>(
      `update accounts set held_nano = held_nano + ?
       where id = ? and balance_nano - held_nano >= ?`,
    ),
    hold: database.prepare(
      `insert into holds (request_id, account_id, process_id, amount_nano, created_ms)
       values (?, ?, ?, ?, ?)`,
    ),
    figures: database
      .prepare<[string], Figures>('select balance_nano, held_nano from accounts where id = ?')
      .safeIntegers(),
    enterCharge: database.prepare(
      `insert into ledger (account_id, kind, reference, amount_nano, key_id, model, provider,
         usage, estimated, created_ms)
       values (?, 'charge', ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (account_id, kind, reference) do nothing`,
    ),
    endHold: database
      .prepare<[request_id: string, account_id: string], bigint>(
        'delete from holds where request_id = ? and account_id = ? returning amount_nano',
      )
      .safeIntegers()
      .pluck(),
    pay: database.prepare<
      [spent_nano: bigint, freed_nano: bigint, account_id: string, least_nano: bigint]
    >(
      `update accounts set balance_nano = balance_nano - ?, held_nano = held_nano - ?
       where id = ? and balance_nano >= ?`,
    ),
    enter: database.prepare(
      `insert into processes (id, place, pid, started_ms, seen_ms)
       values (?, ?, ?, ?, ?) on conflict (id) do nothing`,
    ),
    beat: database.prepare('update processes set seen_ms = ?, note = ifnull(?, note) where id = ?'),
    leave: database.prepare<[id: string]>(
      `delete from processes where id = ? and not exists
         (select 1 from holds where holds.process_id = processes.id)`,
    ),
    ping: database.prepare('select 1 from accounts limit 1'),
  };
}
