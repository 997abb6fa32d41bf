/** A call that its client may send again under one `Idempotency-Key`. */
export interface IdempotentCall {
  account_id: string;
  /** Of the call that has the key now. */
  request_id: string;
  /** SHA-256 (hex) of the account's `Idempotency-Key`. */
  key_sha256: string;
  /** SHA-256 (hex) of the request. */
  asked_sha256: string;
  /** From when on the key may begin another call. */
  due_ms: number;
}

/** What a client was answered: the text is JSON. */
export interface StoredResponse {
  status: number;
  text: string;
}

/** How a call has ended; its answer is null where it was too large to be kept, or not known. */
export interface EndedCall extends IdempotentCall {
  answer: StoredResponse | null;
}

/** What has become of the key: `new` for the one call that is to run. */
export type KeyState =
  | { is: 'new' }
  | { is: 'running' }
  /** It stands for a call that asked for something else. */
  | { is: 'other' }
  | { is: 'answered'; answer: StoredResponse | null };

/** The idempotency keys of a store. The store forgets a running call when its process dies. */
export interface IdempotencyStore {
  /** One conditional write: of many calls with one key, one gets the state `new`. */
  begin(call: IdempotentCall): Promise<KeyState>;
  /**
   * Keeps the answer of a call that is not charged; one that is charged goes with its charge.
   * Throws `StoreError` where another call has the key by now.
   */
  answer(call: EndedCall): Promise<void>;
  /** Lets the key begin anew, unless its call was answered. */
  forget(call: IdempotentCall): Promise<void>;
  /**
   * Removes the keys that were kept long enough and answers how many; then gives up the oldest
   * answers of the accounts that keep the most, but not their keys, until the others weigh no more
   * than that together, and those that cost nothing no more than a tenth of it.
   */
  sweep(total_bytes: number): Promise<number>;
}
