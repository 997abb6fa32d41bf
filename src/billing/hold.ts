import type { RequestRecord } from '../core/request-record.js';
import type { StoredResponse } from '../store/idempotency/idempotency-types.js';
import type { Charge } from '../store/ledger/ledger-columns.js';
import type { Collected, HoldResult, Store } from '../store/store-types.js';
import type { ChargeWriter, HeldRequest } from './charge-writer.js';
import type { IdempotencyClaim } from './idempotency-claim.js';

/** The fields of a charge that the hold fills in. */
type HoldFields = Pick<Charge, 'request_id' | 'account_id' | 'hold_nano' | 'hold_windows'>;

/**
 * Money set aside for one request. It ends by exactly one of charge and release; a second one does
 * nothing. The hold of a free call has no amount and is not stored.
 */
export class Hold implements HeldRequest {
  index = -1;
  #open = false;
  #amount_nano: bigint | null;
  #windows: string | undefined;

  constructor(
    private readonly services: { store: Store; charge_writer: ChargeWriter },
    readonly request_id: string,
    readonly account_id: string,
    /** Null if the call is free. */
    amount_nano: bigint | null,
    private readonly claim?: IdempotencyClaim,
  ) {
    this.#amount_nano = amount_nano;
  }

  get amount_nano(): bigint | null {
    return this.#amount_nano;
  }

  /** Whether it has money that is to be charged or released. */
  get is_open(): boolean {
    return this.#open;
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
    if (result.admitted) this.#windows = result.windows;
    return result;
  }

  /**
   * Writes the charge and ends the hold in one transaction. When this resolves, the transaction is
   * committed, or the charge waits in the journal until the store is back. It ends the claim of an
   * idempotency key with the answer, without which a repetition learns only that the call was
   * charged. Resolves with the outcome of the charge; undefined if it is in the journal. The record
   * is written with the charge to the store, never to the journal: it waits in memory.
   */
  async charge(
    charge: Omit<Charge, keyof HoldFields>,
    answer?: StoredResponse,
    record?: RequestRecord,
  ): Promise<Collected | undefined> {
    if (!this.#open) throw new Error('A hold that has ended cannot be charged.');
    const { request_id, account_id, amount_nano } = this;
    const whole: Charge = Object.assign(
      { request_id, account_id, hold_nano: amount_nano ?? 0n },
      charge,
    );
    if (this.#windows !== undefined) whole.hold_windows = this.#windows;
    const ended = this.claim?.ended(answer);
    const collected = await this.services.charge_writer.charge(whole, ended, record);
    this.#open = false;
    this.claim?.end();
    return collected;
  }

  /** Hands the hold over to a task, which ends it later. `move` writes that in one transaction. */
  async handOver<Moved>(move: () => Promise<Moved>): Promise<Moved> {
    const moved = await move();
    this.#open = false;
    return moved;
  }

  /** Releases the money, unless it was charged. May be called again after the store failed. */
  async release(): Promise<void> {
    if (!this.#open) return;
    await this.services.store.release(this.request_id, this.account_id);
    this.#open = false;
  }
}
