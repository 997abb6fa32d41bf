import type { Charge, Store } from '../store/types.js';

/**
 * Money set aside for one request. It ends in exactly one of settle and release; whichever comes
 * second does nothing. A free call has no amount and leaves no trace in the store.
 */
export class Hold {
  #open: boolean;

  constructor(
    private readonly store: Store,
    readonly request_id: string,
    readonly account_id: string,
    /** Null where the call is free. */
    readonly amount_nano: bigint | null,
  ) {
    this.#open = amount_nano !== null;
  }

  /** Charges and ends the hold in one transaction, committed when this resolves. */
  async settle(charge: Omit<Charge, 'request_id' | 'account_id'>): Promise<void> {
    if (!this.#open) return;
    const { request_id, account_id } = this;
    await this.store.settle(Object.assign({ request_id, account_id }, charge));
    this.#open = false;
  }

  /** Leaves the hold to what `move` writes down, in one transaction, to end it some day. */
  async handOver(move: () => Promise<void>): Promise<void> {
    await move();
    this.#open = false;
  }

  /** Gives the money back, unless it was charged. May be asked again where the store failed. */
  async release(): Promise<void> {
    if (!this.#open) return;
    await this.store.release(this.request_id, this.account_id);
    this.#open = false;
  }
}
