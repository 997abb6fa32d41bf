import type { Logger } from 'pino';
import type { RequestRecord } from '../core/request-record.js';
import { InFlightSet, type Indexed } from '../lib/in-flight-set.js';
import type { EndedCall } from '../store/idempotency/idempotency-types.js';
import type { JournalEntry } from '../store/journal/journal-format.js';
import type { Journal } from '../store/journal/journal.js';
import type { Charge } from '../store/ledger/ledger-columns.js';
import { isRefused } from '../store/store-error.js';
import type { Collected, Store } from '../store/store-types.js';
import { Backlog } from './backlog.js';

/**
 * How long an answer waits for the store before its charge goes to the journal. A gateway that
 * stops waits as long before it leaves its journal to the next process.
 */
const STORE_WAIT_MS = 3_000;
const TICK_MS = 250;

/** The parts of a `ChargeWriter`. `wait_ms` replaces the usual wait for the store, for tests. */
export interface ChargeWriterOptions {
  store: Store;
  journal: Journal;
  log: Logger;
  random: () => number;
  wait_ms?: number;
}

/** A request that may hold money. */
export interface HeldRequest extends Indexed {
  readonly request_id: string;
}

/** A charge that was sent to the store, which has not answered yet. */
interface Attempt extends Indexed, JournalEntry {
  record: RequestRecord | undefined;
  tick: number;
  resolve: (collected: Collected | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Writes charges so that none is lost. A charge that the store does not take within a few seconds
 * goes to the journal, so that its answer can end; it is entered when the store is back. If the
 * store takes the first one late, the unique key of the ledger makes the second one do nothing.
 */
export class ChargeWriter {
  /** The requests in flight of which the store may have a hold or the claim of a key. */
  readonly requests = new InFlightSet<HeldRequest>();
  readonly #attempts = new InFlightSet<Attempt>();
  readonly #backlog: Backlog;
  readonly #clock: NodeJS.Timeout;
  readonly #wait_ms: number;
  readonly #wait_ticks: number;
  #tick = 0;
  /** Whether the last write to the store failed. */
  #isFailing = false;

  constructor(private readonly options: ChargeWriterOptions) {
    const { wait_ms = STORE_WAIT_MS } = options;
    const tick_ms = Math.min(TICK_MS, wait_ms);
    this.#wait_ms = wait_ms;
    this.#wait_ticks = Math.ceil(wait_ms / tick_ms);
    this.#backlog = new Backlog(options, (error) => this.wrote(error));
    this.#clock = setInterval(() => this.#moveLate(), tick_ms);
    this.#clock.unref();
  }

  /** Why the store does not take charges, for `/readyz`; undefined if it does. */
  get fault(): string | undefined {
    const { size } = this.#backlog;
    if (size > 0) return `the store does not take writes: ${size} charges wait in the journal`;
    return this.#isFailing ? 'the store does not take writes' : undefined;
  }

  /** How many charges wait in the journal. */
  get waiting(): number {
    return this.#backlog.size;
  }

  /** The requests whose holds and keys must stay: in flight, or waiting for the store. */
  get known(): ReadonlySet<string> {
    const known = new Set(this.#backlog.requests);
    for (const { request_id } of this.requests) known.add(request_id);
    return known;
  }

  /** Records the outcome of a write to the store. */
  wrote(error?: unknown): void {
    this.#isFailing = error !== undefined;
  }

  /** Reserves the journal's space, and takes over the journals of processes that have ended. */
  async open(): Promise<void> {
    const { journal, log } = this.options;
    try {
      await journal.open();
    } catch (err) {
      log.error({ err }, 'the journal cannot be written: without it an outage can lose charges');
    }
    try {
      await this.adopt();
    } catch (err) {
      log.error({ err }, 'the journals of ended processes cannot be read now');
    }
  }

  /** Resolves with false if charges of ended processes still wait: their holds must stay then. */
  adopt(): Promise<boolean> {
    return this.#backlog.adopt();
  }

  /**
   * Resolves when the charge is in the ledger, with its outcome, or in the journal, with undefined.
   * Rejects if it is in neither. The record is written with the charge, also with one that waits.
   */
  charge(
    charge: Charge,
    answered?: EndedCall,
    record?: RequestRecord,
  ): Promise<Collected | undefined> {
    return new Promise((resolve, reject) => {
      const attempt: Attempt = {
        charge,
        ...(answered && { answered }),
        record,
        tick: this.#tick,
        resolve,
        reject,
        index: -1,
      };
      this.#attempts.add(attempt);
      this.options.store.charge(charge, answered, record).then(
        (collected) => this.#entered(attempt, collected || undefined),
        (error: unknown) => this.#failed(attempt, error),
      );
    });
  }

  /** Repeats the failed release of a hold until it succeeds. */
  retryRelease(request_id: string, release: () => Promise<void>): void {
    this.#backlog.retryRelease(request_id, release);
  }

  /** Enters the charges that it can, and leaves the rest in the journal for the next process. */
  async close(): Promise<void> {
    clearInterval(this.#clock);
    await Promise.all(Array.from(this.#attempts, (attempt) => this.#moveToJournal(attempt)));
    await this.#backlog.close(this.#wait_ms);
  }

  #entered(attempt: Attempt, collected: Collected | undefined): void {
    this.#isFailing = false;
    this.#attempts.delete(attempt);
    const { record } = attempt;
    if (record && collected) record.is_kept = true;
    attempt.resolve(collected);
  }

  #failed(attempt: Attempt, error: unknown): void {
    // It may be in the journal by now.
    if (attempt.index === -1) return;
    if (isRefused(error)) {
      this.#attempts.delete(attempt);
      attempt.reject(error);
      return;
    }
    this.wrote(error);
    void this.#moveToJournal(attempt, error);
  }

  #moveLate(): void {
    this.#tick += 1;
    for (const attempt of this.#attempts) {
      if (this.#tick - attempt.tick > this.#wait_ticks) void this.#moveToJournal(attempt);
    }
  }

  async #moveToJournal(
    attempt: Attempt,
    error: unknown = new Error('The store is late.'),
  ): Promise<void> {
    this.#attempts.delete(attempt);
    this.wrote(error);
    const { charge, answered, record } = attempt;
    try {
      await this.#backlog.add({ charge, ...(answered && { answered }) }, error, record);
      if (record) record.is_kept = true;
      attempt.resolve(undefined);
    } catch (failure) {
      attempt.reject(failure);
    }
  }
}
