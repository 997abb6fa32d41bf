import type { HoldResult, Settled, Store } from '../store/store-types.js';
import type { StoredResponse, EndedCall } from '../store/idempotency/idempotency-types.js';
import type { IdempotentRequest } from './idempotent-request.js';
import type { RequestRecord } from '../core/request-record.js';
import type { Charge } from '../store/ledger/ledger-columns.js';
import type { Logger } from 'pino';
import { isRefused } from '../store/store-error.js';
import type { JournalEntry } from '../store/journal/journal-format.js';
import type { Journal } from '../store/journal/journal.js';
import { InFlightSet, type Indexed } from '../lib/concurrency.js';
import { Backlog } from './backlog.js';

/** The fields of a charge that the hold fills in. */
type HoldFields = Pick<Charge, 'request_id' | 'account_id' | 'hold_nano'>;

/**
 * Money set aside for one request. It ends by exactly one of settle and release; a second one does
 * nothing. The hold of a free call has no amount and is not stored. With an `Idempotency-Key`,
 * settle also stores the answer, and release frees the key.
 */
export class Hold implements Indexed {
  index = -1;
  #open = false;
  #amount_nano: bigint | null;

  constructor(
    private readonly services: { store: Store; settler: Settler },
    readonly request_id: string,
    readonly account_id: string,
    /** Null if the call is free. */
    amount_nano: bigint | null,
    readonly idempotency?: IdempotentRequest,
  ) {
    this.#amount_nano = amount_nano;
  }

  get amount_nano(): bigint | null {
    return this.#amount_nano;
  }

  /** Whether there is nothing left to release. */
  get isOver(): boolean {
    return !this.#open && !this.idempotency;
  }

  /** Lowers the amount before the hold is taken. Throws an `Error` afterwards. */
  reduceTo(amount_nano: bigint): void {
    if (this.#open) throw new Error('A hold that was taken cannot change.');
    this.#amount_nano = amount_nano;
  }

  /**
   * Sets the money aside in the store. Resolves with the refusal if the store does not admit it.
   */
  async take(key_id: string): Promise<HoldResult> {
    const { request_id, account_id, amount_nano } = this;
    const { store } = this.services;
    if (amount_nano === null) return store.admit(key_id);
    // Even if this fails, the store may have taken the hold.
    this.#open = true;
    const result = await store.hold(request_id, account_id, amount_nano, key_id);
    this.#open = result.admitted;
    return result;
  }

  /**
   * Writes the charge and ends the hold in one transaction. When this resolves, the transaction is
   * committed, or the charge waits in the journal until the store is back. The answer is stored for
   * the idempotency key; without one, a repetition learns only that the call was charged. Resolves
   * with the outcome of the charge; undefined if there was no hold to charge, or if the charge is
   * in the journal. The record is written with the charge to the store, never to the journal.
   */
  async settle(
    charge: Omit<Charge, keyof HoldFields>,
    answer?: StoredResponse,
    record?: RequestRecord,
  ): Promise<Settled | undefined> {
    if (!this.#open) {
      await this.answer(answer);
      return undefined;
    }
    const { request_id, account_id, amount_nano } = this;
    const fullCharge = Object.assign(
      { request_id, account_id, hold_nano: amount_nano ?? 0n },
      charge,
    );
    const kept = this.idempotency?.answered(answer);
    const settled = await this.services.settler.settle(fullCharge, kept, record);
    this.#open = false;
    this.idempotency?.end();
    return settled;
  }

  /** Stores the answer of a call without a charge for its idempotency key, if it has one. */
  async answer(answer?: StoredResponse): Promise<void> {
    await this.idempotency?.answer(answer);
  }

  /** Hands the hold over to a task, which ends it later. `move` writes that in one transaction. */
  async handOver<Moved>(move: () => Promise<Moved>): Promise<Moved> {
    const moved = await move();
    this.#open = false;
    return moved;
  }

  /** Releases the money, unless it was charged. May be called again after the store failed. */
  async release(): Promise<void> {
    if (this.#open) await this.services.store.release(this.request_id, this.account_id);
    this.#open = false;
    await this.idempotency?.forget();
    this.services.settler.holds.delete(this);
  }
}

/**
 * How long an answer waits for the store before its charge goes to the journal. A gateway that
 * stops waits as long before it leaves its journal to the next process.
 */
const STORE_WAIT_MS = 3_000;
const TICK_MS = 250;

/** The parts of a settler. `wait_ms` replaces the usual wait for the store, for tests. */
export interface SettlerOptions {
  store: Store;
  journal: Journal;
  log: Logger;
  random: () => number;
  wait_ms?: number;
}

/** A charge that was sent to the store, which has not answered yet. */
interface Attempt extends Indexed, JournalEntry {
  tick: number;
  resolve: (settled: Settled | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Settles charges so that none is lost. A charge that the store does not take within a few seconds
 * goes to the journal, so that its answer can end; it is entered when the store is back. If the
 * store takes the first one late, the unique key of the ledger makes the second one do nothing.
 */
export class Settler {
  /** The holds, and keys of running calls, that the store may have of this process. */
  readonly holds = new InFlightSet<Hold>();
  readonly #attempts = new InFlightSet<Attempt>();
  readonly #backlog: Backlog;
  readonly #clock: NodeJS.Timeout;
  readonly #wait_ms: number;
  readonly #wait_ticks: number;
  #tick = 0;
  /** Whether the last write to the store failed. */
  #isFailing = false;

  constructor(private readonly options: SettlerOptions) {
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
    for (const { request_id } of this.holds) known.add(request_id);
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
   * Rejects if it is in neither.
   */
  settle(
    charge: Charge,
    answered?: EndedCall,
    record?: RequestRecord,
  ): Promise<Settled | undefined> {
    return new Promise((resolve, reject) => {
      const attempt: Attempt = {
        charge,
        ...(answered && { answered }),
        tick: this.#tick,
        resolve,
        reject,
        index: -1,
      };
      this.#attempts.add(attempt);
      this.options.store.settle(charge, answered, record).then(
        (settled) => this.#entered(attempt, settled || undefined),
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

  #entered(attempt: Attempt, settled: Settled | undefined): void {
    this.#isFailing = false;
    this.#attempts.delete(attempt);
    attempt.resolve(settled);
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
    const { charge, answered } = attempt;
    try {
      await this.#backlog.add({ charge, ...(answered && { answered }) }, error);
      attempt.resolve(undefined);
    } catch (failure) {
      attempt.reject(failure);
    }
  }
}
