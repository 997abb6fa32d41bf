import type Sqlite from 'better-sqlite3';
import { isBusy } from '../database.js';
import { collectBatch } from './group-commit.js';
import { withRetry } from '../retry.js';

interface Question<Found> {
  key: string;
  resolve: (found: Found | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Looks up what is asked for together under one lock of the file, and each key once:
 * taking the lock costs more than the look-up. Nothing is remembered from turn to turn, so each
 * answer is what the file says now.
 */
export class BatchedReads<Found> {
  readonly #get: (key: string) => Found | undefined;
  readonly #begin: () => void;
  readonly #commit: () => void;
  #waiting: Question<Found>[] = [];

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
    const shared = waiting.length > 1;
    const known = new Map<string, Found | undefined>();
    if (shared) this.#begin();
    const alone = waiting.filter((question) => !this.#answered(question, known));
    if (shared) this.#commit();
    for (const { key, resolve, reject } of alone) {
      withRetry(isBusy, () => this.#get(key)).then(resolve, reject);
    }
  }

  /** False where another connection was in the way: then it is asked again by itself. */
  #answered({ key, resolve }: Question<Found>, known: Map<string, Found | undefined>): boolean {
    try {
      if (!known.has(key)) known.set(key, this.#get(key));
      resolve(known.get(key));
      return true;
    } catch {
      return false;
    }
  }
}
