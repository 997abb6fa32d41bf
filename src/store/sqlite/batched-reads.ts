import type Sqlite from 'better-sqlite3';
import { isBusy } from '../database.js';
import { collectBatch } from './group-commit.js';
import { withRetry } from '../retry.js';

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
