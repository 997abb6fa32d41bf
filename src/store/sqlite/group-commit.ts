import type Sqlite from 'better-sqlite3';
import { isBusy } from '../database.js';
import { sqliteFault } from './sqlite-fault.js';
import { OpenFile, WalSync } from './sqlite-file.js';
import { ATTEMPTS, wait_ms } from '../retry.js';

/** A batch window ends after this time at the latest. */
const MAX_WINDOW_MS = 5;

/** A larger batch would block the event loop for too long. */
export const MAX_BATCH = 256;

/** Writes of one kind, which a transaction does for all its members of that kind at once. */
export interface Batch<Item, Value> {
  /** Runs after all other batches: holds take money that charges and releases free. */
  readonly runsLast?: true;
  /**
   * Answers the values in the order of the items. If it throws, the group rolls the transaction
   * back and runs every member alone.
   */
  runBatch(items: readonly Item[]): readonly Value[];
  /** Throws if this item is refused. */
  runOne(item: Item): Value;
}

/** Writes that share no statement with other members. */
const INDEPENDENT: Batch<() => unknown, unknown> = {
  runBatch: (works) => works.map((work) => work()),
  runOne: (work) => work(),
};

/** A queued write with its promise. */
interface Member {
  batch: Batch<unknown, unknown>;
  item: unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Whether the promise resolves only after the fsync. */
  durable: boolean;
  /** The result of the write, or its error if `failed`. The caller gets it after the commit. */
  value: unknown;
  failed: boolean;
}

/**
 * Group commit: writes that arrive together share one transaction, because a commit costs more than
 * its statements. Promises resolve after the commit; those of durable writes after the fsync too.
 *
 * A write goes down this file: `join` queues it, `collectBatch` waits for more, `#flush` takes up
 * to `MAX_BATCH` members, `#runTogether` runs each batch, `#commit` commits, `#resolveDurable`
 * syncs.
 */
export class GroupCommit {
  readonly #database: Sqlite.Database;
  readonly #onBegin: (isRetry: boolean) => void;
  readonly #wal: WalSync;
  readonly #file: OpenFile;
  readonly #sql: Record<
    'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'undo',
    () => void
  >;
  #waiting: Member[] = [];
  /** The first so many members waiting were rolled back, because one of them failed. */
  #rolledBack = 0;
  #attempt = 0;
  #scheduled = false;

  /** `onBegin` runs first in each transaction; `isRetry` after a transaction was rolled back. */
  constructor(
    database: Sqlite.Database,
    onBegin: (isRetry: boolean) => void,
    wal = new WalSync(`${database.name}-wal`),
    private readonly now_ms = () => performance.now(),
  ) {
    this.#wal = wal;
    this.#file = new OpenFile(database.name);
    const prepare = (sql: string) => {
      const statement = database.prepare(sql);
      return () => void statement.run();
    };
    this.#database = database;
    this.#onBegin = onBegin;
    this.#sql = {
      begin: prepare('begin immediate'),
      commit: prepare('commit'),
      rollback: prepare('rollback'),
      savepoint: prepare('savepoint member'),
      release: prepare('release member'),
      undo: prepare('rollback to member'),
    };
  }

  /** Resolves with the value of `work`. If `work` throws, its writes are undone. */
  add<T>(work: () => T): Promise<T> {
    return this.join(INDEPENDENT, work) as Promise<T>;
  }

  /** Like `add`, but resolves only once the write survives a loss of power. */
  addDurably<T>(work: () => T): Promise<T> {
    return this.join(INDEPENDENT, work, true) as Promise<T>;
  }

  /** Queues an item, which `batch` writes together with the other queued items of its kind. */
  join<I, T>(batch: Batch<I, T>, item: I, durable = false): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      const [value, failed] = [undefined, false];
      this.#waiting.push({ batch, item, resolve, reject, durable, value, failed });
      this.#schedule();
    }) as Promise<T>;
  }

  /** Throws if the file was deleted or replaced: its writes would be lost. */
  check(): void {
    const fault = this.#file.fault();
    if (fault) throw fault;
  }

  /** Resolves when every write queued before is committed or refused. */
  async idle(): Promise<void> {
    if (this.#waiting.length > 0) await this.add(() => undefined);
    await this.#wal.close();
  }

  #schedule(wait?: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const flush = (): void => this.#flush();
    if (wait !== undefined) setTimeout(flush, wait);
    else if (this.#wal.isQuick) collectBatch(this.#waiting, flush, this.now_ms);
    else setImmediate(flush);
  }

  #flush(): void {
    this.#scheduled = false;
    if (!this.#begin()) return;
    const isRetry = this.#rolledBack > 0;
    const members = this.#waiting.splice(0, isRetry ? this.#rolledBack : MAX_BATCH);
    this.#rolledBack = 0;
    if (isRetry) this.#runOneByOne(members);
    else this.#runTogether(members);
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** False if another process holds the write lock: the members stay queued for the next try. */
  #begin(): boolean {
    try {
      if (this.#file.wasGone) this.check();
      this.#sql.begin();
      this.#attempt = 0;
      return true;
    } catch (error) {
      this.#attempt++;
      if (isBusy(error) && this.#attempt < ATTEMPTS) {
        this.#schedule(wait_ms(this.#attempt));
      } else {
        this.#attempt = 0;
        this.#rolledBack = 0;
        this.#reject(this.#waiting.splice(0), error);
      }
      return false;
    }
  }

  /** The common case, without savepoints. If a member fails, all go to `#runOneByOne`. */
  #runTogether(members: Member[]): void {
    try {
      this.#onBegin(false);
      for (const [batch, some] of byBatch(members)) {
        const values = batch.runBatch(some.map(({ item }) => item));
        for (let at = 0; at < some.length; at += 1) some[at]!.value = values[at];
      }
    } catch {
      this.#rollback();
      this.#waiting.unshift(...members);
      this.#rolledBack = members.length;
      return;
    }
    this.#commit(members);
  }

  /** Runs each member under its own savepoint, so that a failure undoes that member alone. */
  #runOneByOne(members: Member[]): void {
    try {
      this.#onBegin(true);
      for (const member of members) this.#runAlone(member);
    } catch (error) {
      this.#rollback();
      this.#reject(members, error);
      return;
    }
    this.#commit(members);
  }

  #runAlone(member: Member): void {
    this.#sql.savepoint();
    try {
      member.value = member.batch.runOne(member.item);
      this.#sql.release();
    } catch (error) {
      // Some errors, such as a full disk, end the whole transaction: no savepoint is left.
      if (!this.#database.inTransaction) throw error;
      this.#sql.undo();
      this.#sql.release();
      member.value = error;
      member.failed = true;
    }
  }

  #commit(members: Member[]): void {
    try {
      this.#sql.commit();
    } catch (error) {
      this.#rollback();
      this.#reject(members, error);
      return;
    }
    const durable: Member[] = [];
    for (const member of members) {
      if (member.failed) this.#reject([member], member.value);
      else if (member.durable) durable.push(member);
      else member.resolve(member.value);
    }
    if (durable.length > 0) this.#resolveDurable(durable);
  }

  #resolveDurable(members: Member[]): void {
    this.#wal.after((failed) => {
      const error = failed ?? this.#file.fault();
      if (error) this.#reject(members, error);
      else for (const member of members) member.resolve(member.value);
    });
  }

  #reject(members: readonly Member[], error: unknown): void {
    const fault = sqliteFault(this.#database.name, error);
    for (const member of members) member.reject(fault);
  }

  #rollback(): void {
    if (this.#database.inTransaction) this.#sql.rollback();
  }
}

/** Groups the members by batch, in the order of their first members; `runsLast` goes last. */
function byBatch(members: readonly Member[]): [Batch<unknown, unknown>, Member[]][] {
  const all = new Map<Batch<unknown, unknown>, Member[]>();
  for (const member of members) {
    const some = all.get(member.batch);
    if (some) some.push(member);
    else all.set(member.batch, [member]);
  }
  return [...all].toSorted(([one], [other]) => rank(one) - rank(other));
}

function rank({ runsLast }: Batch<unknown, unknown>): number {
  return runsLast ? 1 : 0;
}

/**
 * Waits until one turn of the event loop adds no member, then calls `act`, after 5 ms or 256
 * members at the latest. A member that arrives alone is served in the next turn. A busy loop
 * collects large batches, which cost far less per member.
 */
export function collectBatch(
  waiting: { readonly length: number },
  act: () => void,
  now_ms: () => number = () => performance.now(),
): void {
  const started_ms = now_ms();
  const turn = (before: number): void => {
    setImmediate(() => {
      const { length } = waiting;
      const isOver =
        length <= before || length >= MAX_BATCH || now_ms() - started_ms >= MAX_WINDOW_MS;
      if (isOver) act();
      else turn(length);
    });
  };
  turn(waiting.length);
}
