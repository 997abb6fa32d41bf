import type { HoldResult, Settled, Store } from '../store/store-types.js';
import type { StoredResponse } from '../store/idempotency/idempotency-types.js';
import type { IdempotentRequest } from './idempotent-request.js';
import type { Settler } from './settler.js';
import type { Charge } from '../store/ledger/ledger-columns.js';

/** What a hold knows of the charge that ends it. */
type Held = Pick<Charge, 'request_id' | 'account_id' | 'hold_nano'>;

/**
 * Money set aside for one request. It ends in exactly one of settle and release; whichever comes
 * second does nothing. A free call has no amount and leaves no trace in the store, unless its
 * client may repeat it: then what ends the hold keeps the answer, or forgets the call.
 */
export class Hold {
  #open = false;

  constructor(
    private readonly books: { store: Store; settler: Settler },
    readonly request_id: string,
    readonly account_id: string,
    /** Null where the call is free. */
    readonly amount_nano: bigint | null,
    readonly repeatable?: IdempotentRequest,
  ) {}

  /** Nothing of it is left to be given back. */
  get isOver(): boolean {
    return !this.#open && !this.repeatable;
  }

  /** Sets the money aside, or answers why that cannot be. */
  async take(key_id: string): Promise<HoldResult> {
    const { request_id, account_id, amount_nano } = this;
    const { store } = this.books;
    if (amount_nano === null) {
      return (await store.hasEnded(key_id))
        ? { admitted: false, because: 'ended' }
        : { admitted: true };
    }
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
   * charge; undefined where none was made, or where the store does not know yet.
   */
  async settle(
    charge: Omit<Charge, keyof Held>,
    answer?: StoredResponse,
  ): Promise<Settled | undefined> {
    if (!this.#open) {
      await this.answer(answer);
      return undefined;
    }
    const { request_id, account_id, amount_nano } = this;
    const whole = Object.assign({ request_id, account_id, hold_nano: amount_nano ?? 0n }, charge);
    const kept = this.repeatable?.answered(answer);
    const settled = await this.books.settler.settle(whole, kept);
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
