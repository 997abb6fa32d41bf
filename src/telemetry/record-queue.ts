import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RequestRecord } from '../core/request-record.js';
import type { RequestStore } from '../store/requests/request-types.js';
import type { RecordSink } from './request-recorder.js';

const FLUSH_MS = 1_000;
/** So many waiting records are not left until the second is over. */
const FULL = 500;
/** Written in one transaction, which in SQLite stops the event loop. */
const BATCH = 250;

interface RecordQueueOptions {
  store: Pick<RequestStore, 'add' | 'rollUp' | 'lost'>;
  log: Logger;
  /** The most records that wait for the store; those beyond are dropped, and counted. */
  most: number;
}

/**
 * Writes the records that no charge has taken along, every second and many at a time, and adds all
 * new records to the totals. Nothing waits for it. A store that fails gets its records again later.
 */
export class RecordQueue implements RecordSink {
  most: number;
  #waiting: RequestRecord[] = [];
  #dropped = 0;
  /** The drops that the log has told. */
  #told = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #isFailing = false;

  constructor(private readonly options: RecordQueueOptions) {
    this.most = options.most;
  }

  /** Records that are nowhere in the store, since this process has started. */
  get dropped(): number {
    return this.#dropped + this.options.store.lost;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  take(record: RequestRecord): void {
    if (!record.is_kept) {
      if (this.#waiting.length >= this.most) this.#dropped += 1;
      else this.#waiting.push(record);
    }
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
    if (this.#waiting.length >= FULL && !this.#isFailing) void this.flush();
  }

  /** Writes what waits, and brings the totals up to date. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    return this.#flushing;
  }

  /** Writes what waits for the last time. */
  async close(): Promise<void> {
    await this.flush();
    await this.flush();
    clearTimeout(this.#timer);
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
    this.#tell();
  }

  async #flush(): Promise<void> {
    const { store, log } = this.options;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#write();
      while (await store.rollUp()) {
        await nextTurn();
        // After a restart there may be many steps, and a record must not wait for all of them.
        await this.#write();
      }
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.error({ err }, 'records of requests wait for the store');
      this.#isFailing = true;
      this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
    }
    this.#tell();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await this.options.store.add(batch);
      this.#waiting.splice(0, batch.length);
    }
  }

  #tell(): void {
    const { dropped } = this;
    if (dropped === this.#told) return;
    this.options.log.warn({ dropped: dropped - this.#told }, 'records of requests were dropped');
    this.#told = dropped;
  }
}
