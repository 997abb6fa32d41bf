import type {
  StoredResponse,
  EndedCall,
  KeyState,
  IdempotentCall,
} from '../store/idempotency/idempotency-types.js';
import type { Store } from '../store/store-types.js';

/** A larger answer would stop all others while it is committed. */
const MAX_BYTES = 8 * 1024 ** 2;

/**
 * A call under an `Idempotency-Key`. Once begun it ends with an answer that is kept, or is
 * forgotten, so that a client that repeats it is charged at most once.
 */
export class IdempotentRequest {
  #open = false;

  constructor(
    private readonly store: Store,
    readonly call: IdempotentCall,
  ) {}

  /** Takes the key for this call, or answers what stands in the way. */
  async begin(): Promise<KeyState> {
    // A store that fails may have begun it all the same.
    this.#open = true;
    const begun = await this.store.idempotency.begin(this.call);
    this.#open = begun.is === 'new';
    return begun;
  }

  /** What is written down with whatever ends the call; `end` is to be called after that. */
  answered(answer?: StoredResponse): EndedCall {
    const isKept = answer !== undefined && Buffer.byteLength(answer.text) <= MAX_BYTES;
    return Object.assign({ answer: isKept ? answer : null }, this.call);
  }

  end(): void {
    this.#open = false;
  }

  /** Ends the call with nothing but its answer. */
  async answer(answer?: StoredResponse): Promise<void> {
    if (!this.#open) return;
    await this.store.idempotency.answer(this.answered(answer));
    this.#open = false;
  }

  /** Lets the key begin anew, unless the call has ended. May be asked again. */
  async forget(): Promise<void> {
    if (!this.#open) return;
    await this.store.idempotency.forget(this.call);
    this.#open = false;
  }
}
