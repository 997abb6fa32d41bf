import type Sqlite from 'better-sqlite3';
import { isBusy } from '../database.js';
import { OpenFile, WalSync } from './sqlite-file.js';
import { ATTEMPTS, wait_ms } from '../retry.js';

/** Nobody waits longer than this for others. */
const MOST_MS = 5;

/** Enough to be served at once: more would keep the event loop for too long. */
export const MAX_BATCH = 256;

/** Work of one kind, which a transaction does for all that ask for it at once. */
export interface Batch<Item, Value> {
  /** It takes what others may give back, and goes last. */
  readonly runsLast?: true;
  /** Answers in the order of the items. If it throws, all is undone, and each is done alone. */
  runBatch(items: readonly Item[]): readonly Value[];
  /** Throws where this one cannot be done. */
  runOne(item: Item): Value;
}

/** Work that has nothing to do with that of others. */
const INDEPENDENT: Batch<() => unknown, unknown> = {
  runBatch: (works) => works.map((work) => work()),
  runOne: (work) => work(),
};

/** One who asked a group for work, and waits. */
interface Member {
  batch: Batch<unknown, unknown>;
  item: unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Whether its caller must hear only when the disk has it. */
  durable: boolean;
  /** What its caller hears after the commit: what the work answered, or threw. */
  value: unknown;
  failed: boolean;
}

/**
 * Group commit: what is asked for together is written in one transaction. Callers are answered
 * after the commit, and those whose writing is durable once the disk has it as well.
 */
export class GroupCommit {
  readonly #database: Sqlite.Database;
  readonly #prelude: (again: boolean) => void;
  readonly #disk: WalSync;
  readonly #file: OpenFile;
  readonly #sql: Record<'begin' | 'commit' | 'rollback' | 'mark' | 'keep' | 'undo', () => void>;
  #waiting: Member[] = [];
  /** How many of those waiting were undone because one among them failed. */
  #suspects = 0;
  #attempt = 0;
  #scheduled = false;

  /** The prelude runs first in every transaction, and hears whether one was undone before it. */
  constructor(
    database: Sqlite.Database,
    prelude: (again: boolean) => void,
    disk = new WalSync(`${database.name}-wal`),
  ) {
    this.#disk = disk;
    this.#file = new OpenFile(database.name);
    const prepare = (sql: string) => {
      const statement = database.prepare(sql);
      return () => void statement.run();
    };
    this.#database = database;
    this.#prelude = prelude;
    this.#sql = {
      begin: prepare('begin immediate'),
      commit: prepare('commit'),
      rollback: prepare('rollback'),
      mark: prepare('savepoint member'),
      keep: prepare('release member'),
      undo: prepare('rollback to member'),
    };
  }

  /** Rejects with what `work` throws, which then has changed nothing; else answers its value. */
  add<T>(work: () => T): Promise<T> {
    return this.join(INDEPENDENT, work) as Promise<T>;
  }

  /** Like `add`, but answers only when what was written would survive a loss of power. */
  addDurably<T>(work: () => T): Promise<T> {
    return this.join(INDEPENDENT, work, true) as Promise<T>;
  }

  /** Adds work that is done together with what others ask for of the same kind. */
  join<I, T>(batch: Batch<I, T>, item: I, durable = false): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      const [value, failed] = [undefined, false];
      this.#waiting.push({ batch, item, resolve, reject, durable, value, failed });
      this.#schedule();
    }) as Promise<T>;
  }

  /** Throws where the file was deleted or replaced, so that what is written would vanish. */
  check(): void {
    const fault = this.#file.fault();
    if (fault) throw fault;
  }

  /** Resolves when all that was added before is written or refused. */
  async idle(): Promise<void> {
    if (this.#waiting.length > 0) await this.add(() => undefined);
    await this.#disk.close();
  }

  #schedule(wait?: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const flush = (): void => this.#flush();
    if (wait !== undefined) setTimeout(flush, wait);
    else if (this.#disk.isQuick) collectBatch(this.#waiting, flush);
    else setImmediate(flush);
  }

  #flush(): void {
    this.#scheduled = false;
    if (!this.#begin()) return;
    const careful = this.#suspects > 0;
    const members = this.#waiting.splice(0, careful ? this.#suspects : MAX_BATCH);
    this.#suspects = 0;
    if (careful) this.#runOneByOne(members);
    else this.#runTogether(members);
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** False if another process is writing: then those who wait are joined by those who come. */
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
        this.#suspects = 0;
        for (const member of this.#waiting.splice(0)) member.reject(error);
      }
      return false;
    }
  }

  /** The common case, without a savepoint each. A member that fails sends all to the other way. */
  #runTogether(members: Member[]): void {
    try {
      this.#prelude(false);
      for (const [batch, some] of byBatch(members)) {
        const values = batch.runBatch(some.map(({ item }) => item));
        for (const [at, member] of some.entries()) member.value = values[at];
      }
    } catch {
      this.#rollback();
      this.#waiting.unshift(...members);
      this.#suspects = members.length;
      return;
    }
    this.#commit(members);
  }

  /** Each member by itself, so that only those that fail are undone. */
  #runOneByOne(members: Member[]): void {
    try {
      this.#prelude(true);
      for (const member of members) this.#runAlone(member);
    } catch (error) {
      this.#rollback();
      for (const member of members) member.reject(error);
      return;
    }
    this.#commit(members);
  }

  #runAlone(member: Member): void {
    this.#sql.mark();
    try {
      member.value = member.batch.runOne(member.item);
      this.#sql.keep();
    } catch (error) {
      // A full disk and the like end the whole transaction: then no member is left to be saved.
      if (!this.#database.inTransaction) throw error;
      this.#sql.undo();
      this.#sql.keep();
      member.value = error;
      member.failed = true;
    }
  }

  #commit(members: Member[]): void {
    try {
      this.#sql.commit();
    } catch (error) {
      this.#rollback();
      for (const member of members) member.reject(error);
      return;
    }
    const late: Member[] = [];
    for (const member of members) {
      if (member.failed) member.reject(member.value);
      else if (member.durable) late.push(member);
      else member.resolve(member.value);
    }
    if (late.length > 0) this.#answerDurable(late);
  }

  #answerDurable(members: Member[]): void {
    this.#disk.after((failed) => {
      const error = failed ?? this.#file.fault();
      for (const member of members) {
        if (error) member.reject(error);
        else member.resolve(member.value);
      }
    });
  }

  #rollback(): void {
    if (this.#database.inTransaction) this.#sql.rollback();
  }
}

/** The members by what is done together, in the order of the first of each, but takers last. */
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
 * Acts for all who wait as soon as a turn of the event loop has brought nobody more. Who comes
 * alone is served in the next turn, and nobody waits while the loop has nothing to do. A busy loop
 * comes to do each thing for many at once, which costs far less than all things for each few.
 */
export function collectBatch(
  waiting: { readonly length: number },
  act: () => void,
  now_ms: () => number = () => performance.now(),
): void {
  const began_ms = now_ms();
  const turn = (before: number): void => {
    setImmediate(() => {
      const { length } = waiting;
      const isOver = length <= before || length >= MAX_BATCH || now_ms() - began_ms >= MOST_MS;
      if (isOver) act();
      else turn(length);
    });
  };
  turn(waiting.length);
}
