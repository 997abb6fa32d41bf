import type { HoldResult, Settled, Store } from '../store/store-types.js';
import type { StoredResponse, EndedCall } from '../store/idempotency/idempotency-types.js';
import type { IdempotentRequest } from './idempotent-request.js';
import type { RequestRecord } from '../core/request-record.js';
import type { Charge } from '../store/ledger/ledger-columns.js';
import type { Logger } from 'pino';
import { isRefused } from '../store/store-error.js';
import type { JournalEntry } from '../store/journal/journal-format.js';
import type { Journal } from '../store/journal/journal.js';
import { InFlightSet, type Indexed } from '../lib/in-flight.js';
import { Backlog } from './backlog.js';

/** What a hold knows of the charge that ends it. */
type Held = Pick<Charge, 'request_id' | 'account_id' | 'hold_nano'>;

/**
 * Money set aside for one request. It ends in exactly one of settle and release; whichever comes
 * second does nothing. A free call has no amount and leaves no trace in the store, unless its
 * client may repeat it: then what ends the hold keeps the answer, or forgets the call.
 */
export class Hold {
  #open = false;
  #amount_nano: bigint | null;

  constructor(
    private readonly books: { store: Store; settler: Settler },
    readonly request_id: string,
    readonly account_id: string,
    /** Null where the call is free. */
    amount_nano: bigint | null,
    readonly repeatable?: IdempotentRequest,
  ) {
    this.#amount_nano = amount_nano;
  }

  get amount_nano(): bigint | null {
    return this.#amount_nano;
  }

  /** Nothing of it is left to be given back. */
  get isOver(): boolean {
    return !this.#open && !this.repeatable;
  }

  /** Makes it smaller before it is taken. */
  reduceTo(amount_nano: bigint): void {
    if (this.#open) throw new Error('A hold that was taken cannot change.');
    this.#amount_nano = amount_nano;
  }

  /** Sets the money aside, or answers why that cannot be. */
  async take(key_id: string): Promise<HoldResult> {
    const { request_id, account_id, amount_nano } = this;
    const { store } = this.books;
    if (amount_nano === null) return store.admit(key_id);
    // A store that fails may have taken the hold all the same.
    this.#open = true;
    const result = await store.hold(request_id, account_id, amount_nano, key_id);
    this.#open = result.admitted;
    return result;
  }

  /**
   * Charges and ends the hold in one transaction, committed when this resolves, or else written to
   * the journal to be done once the store is back. It keeps the answer as well: without one, the
   * call is known to be charged when it is repeated, and nothing else. Answers what became of the
   * charge; undefined where none was made, or where the store does not know yet. The record goes
   * with the charge into the store, and not into the journal.
   */
  async settle(
    charge: Omit<Charge, keyof Held>,
    answer?: StoredResponse,
    record?: RequestRecord,
  ): Promise<Settled | undefined> {
    if (!this.#open) {
      await this.answer(answer);
      return undefined;
    }
    const { request_id, account_id, amount_nano } = this;
    const whole = Object.assign({ request_id, account_id, hold_nano: amount_nano ?? 0n }, charge);
    const kept = this.repeatable?.answered(answer);
    const settled = await this.books.settler.settle(whole, kept, record);
    this.#open = false;
    this.repeatable?.end();
    return settled;
  }

  /** Keeps the answer of a call that is not charged, where it may be repeated. */
  async answer(answer?: StoredResponse): Promise<void> {
    await this.repeatable?.answer(answer);
  }

  /** Leaves the hold to what `move` writes down, in one transaction, to end it some day. */
  async handOver(move: () => Promise<void>): Promise<void> {
    await move();
    this.#open = false;
  }

  /** Gives the money back, unless it was charged. May be asked again where the store failed. */
  async release(): Promise<void> {
    if (this.#open) await this.books.store.release(this.request_id, this.account_id);
    this.#open = false;
    await this.repeatable?.forget();
  }
}

/**
 * How long an answer waits for the store before its charge goes to the journal, and a gateway that
 * stops before it leaves its journal to the next process.
 */
const STORE_WAIT_MS = 3_000;
const TICK_MS = 250;

export interface SettlerOptions {
  store: Store;
  journal: Journal;
  log: Logger;
  random: () => number;
  wait_ms?: number;
}

/** A charge that the store was asked to take, and has not answered yet. */
interface Attempt extends Indexed, JournalEntry {
  tick: number;
  resolve: (settled: Settled | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Settles charges so that none is lost. A charge that the store does not take within a few seconds
 * goes to the journal, and the answer may end; it is entered when the store is back. The store may
 * take it late as well: the ledger's unique key makes a second charge do nothing.
 */
export class Settler {
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
    this.#clock = setInterval(() => this.#look(), tick_ms);
    this.#clock.unref();
  }

  /** What keeps charges from the store, in words for `/readyz`; undefined where nothing does. */
  get fault(): string | undefined {
    const { size } = this.#backlog;
    if (size > 0) return `the store does not take writes: ${size} charges wait in the journal`;
    return this.#isFailing ? 'the store does not take writes' : undefined;
  }

  /** How many charges wait in the journal. */
  get waiting(): number {
    return this.#backlog.size;
  }

  /** Takes note of how a write to the store has ended. */
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

  /** Resolves with false where charges of dead processes still wait: their holds must stay then. */
  adopt(): Promise<boolean> {
    return this.#backlog.adopt();
  }

  /**
   * Resolves when the charge is in the ledger, with what became of it, or on disk, with undefined.
   * Rejects where it is kept nowhere.
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

  /** Repeats what failed until it succeeds, such as the release of a hold. */
  insist(request_id: string, act: () => Promise<void>): void {
    this.#backlog.insist(request_id, act);
  }

  /** Enters what it can, and leaves the rest on disk for the next process. */
  async close(): Promise<void> {
    clearInterval(this.#clock);
    await Promise.all(Array.from(this.#attempts, (attempt) => this.#keep(attempt)));
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
    void this.#keep(attempt, error);
  }

  #look(): void {
    this.#tick += 1;
    for (const attempt of this.#attempts) {
      if (this.#tick - attempt.tick > this.#wait_ticks) void this.#keep(attempt);
    }
  }

  async #keep(attempt: Attempt, error: unknown = new Error('The store is late.')): Promise<void> {
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
