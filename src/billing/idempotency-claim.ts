import type {
  StoredResponse,
  EndedCall,
  KeyState,
  IdempotentCall,
} from '../store/idempotency/idempotency-types.js';
import type { Store } from '../store/store-types.js';

/** The commit of a larger answer would block all other requests. */
const MAX_BYTES = 8 * 1024 ** 2;

/**
 * The claim of a request to its `Idempotency-Key`. It ends with a stored answer, or it is dropped
 * and the key is free. So a client that repeats the request is charged at most once.
 */
export class IdempotencyClaim {
  #open = false;

  constructor(
    private readonly store: Store,
    readonly call: IdempotentCall,
  ) {}

  /** Claims the key for this request. Resolves with the state of the key. */
  async take(): Promise<KeyState> {
    // Even if this fails, the store may have taken the key.
    this.#open = true;
    const begun = await this.store.idempotency.begin(this.call);
    this.#open = begun.is === 'new';
    return begun;
  }

  /**
   * The call with its answer as the store keeps it, to be written in the transaction that ends the
   * request. Without an answer, a repetition learns only that the call was made. Call `end` after
   * that.
   */
  ended(answer?: StoredResponse): EndedCall {
    const isKept = answer !== undefined && Buffer.byteLength(answer.text) <= MAX_BYTES;
    return Object.assign({ answer: isKept ? answer : null }, this.call);
  }

  end(): void {
    this.#open = false;
  }

  /** Ends the request without a charge, and stores its answer. */
  async keep(answer?: StoredResponse): Promise<void> {
    if (!this.#open) return;
    await this.store.idempotency.answer(this.ended(answer));
    this.#open = false;
  }

  /** Frees the key, unless the request has ended. May be called again after a failure. */
  async drop(): Promise<void> {
    if (!this.#open) return;
    await this.store.idempotency.forget(this.call);
    this.#open = false;
  }
}
