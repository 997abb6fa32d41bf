import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RequestRecord } from '../core/request-record.js';
import type { RequestStore } from '../store/requests/request-types.js';

const FLUSH_MS = 1_000;
/** A queue of this many records is written at once, before the second is over. */
const FULL = 500;
/**
 * How many times in a row the totals are brought up to date after records were written. In
 * PostgreSQL the first time may leave some out, as they wait for the end of older transactions.
 */
const FLUSHES = 2;
/** The records of one transaction. In SQLite a transaction blocks the event loop. */
const BATCH = 250;

interface RecordQueueOptions {
  store: Pick<RequestStore, 'add' | 'rollUp' | 'lost' | 'written'>;
  log: Logger;
  /** The maximum of records that wait for the store. Further ones are dropped, and counted. */
  max: number;
}

/**
 * Writes the records of requests without a charge in batches, every second, and adds all new
 * records to the totals. (A charge writes its record in its own transaction.) No request waits for
 * it. After a failure of the store the records are written again later.
 */
export class RecordQueue {
  max: number;
  #waiting: RequestRecord[] = [];
  #dropped = 0;
  /** The number of dropped records that the log has reported. */
  #reported = 0;
  /** How many records the store had written a second ago, and the flushes that are due for them. */
  #written = 0;
  #due = 0;
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> | undefined;
  #isFailing = false;

  constructor(private readonly options: RecordQueueOptions) {
    this.max = options.max;
    this.#timer = setInterval(() => this.#flushIfDue(), FLUSH_MS).unref();
  }

  /** The number of records that were lost since the process started. */
  get dropped(): number {
    return this.#dropped + this.options.store.lost;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes a record that was not written with a charge. */
  take(record: RequestRecord): void {
    if (this.#waiting.length >= this.max) this.#dropped += 1;
    else this.#waiting.push(record);
    if (this.#waiting.length >= FULL && !this.#isFailing) void this.flush();
  }

  /** Writes the waiting records, and brings the totals up to date. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    return this.#flushing;
  }

  /** Writes the waiting records for the last time, and drops the others. */
  async close(): Promise<void> {
    await this.flush();
    await this.flush();
    clearInterval(this.#timer);
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
    this.#reportDropped();
  }

  #flushIfDue(): void {
    const { written } = this.options.store;
    if (written !== this.#written) this.#due = FLUSHES;
    this.#written = written;
    if (this.#due === 0 && this.#waiting.length === 0 && !this.#isFailing) return;
    this.#due = Math.max(this.#due - 1, 0);
    void this.flush();
  }

  async #flush(): Promise<void> {
    const { store, log } = this.options;
    try {
      await this.#write();
      while (await store.rollUp()) {
        await nextTurn();
        // After a restart there may be many steps. New records are written between them.
        await this.#write();
      }
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.error({ err }, 'records of requests wait for the store');
      this.#isFailing = true;
    }
    this.#reportDropped();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await this.options.store.add(batch);
      this.#waiting.splice(0, batch.length);
    }
  }

  #reportDropped(): void {
    const { dropped } = this;
    if (dropped === this.#reported) return;
    this.options.log.warn(
      { dropped: dropped - this.#reported },
      'records of requests were dropped',
    );
    this.#reported = dropped;
  }
}
