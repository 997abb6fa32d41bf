import type Sqlite from 'better-sqlite3';
import { INDEPENDENT, byBatch, type Batch, type Member } from './batch.js';
import { isBusy } from '../database.js';
import { WalSync } from './wal-sync.js';
import { collectBatch, MAX_BATCH } from './batch-window.js';
import { OpenFile } from '../open-file.js';
import { ATTEMPTS, wait_ms } from '../retry.js';

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
