/** A call that its client may send again under one `Idempotency-Key`. */
export interface IdempotentCall {
  account_id: string;
  /** The request that has the key now. */
  request_id: string;
  /** SHA-256 (hex) of the account's `Idempotency-Key`. */
  key_sha256: string;
  /** SHA-256 (hex) of the request. */
  request_sha256: string;
  /** The time from which the key may begin another call. */
  due_ms: number;
}

/** The answer to a client. The text is JSON. */
export interface StoredResponse {
  status: number;
  text: string;
}

/** A call that has ended. Its answer is null if it was too large to be stored, or is unknown. */
export interface EndedCall extends IdempotentCall {
  answer: StoredResponse | null;
}

/** The state of a key. `new` is for the one call that is to run. */
export type KeyState =
  | { is: 'new' }
  | { is: 'running' }
  /** The key came before with another request. */
  | { is: 'other' }
  | { is: 'answered'; answer: StoredResponse | null };

/** The idempotency keys of a store. The store forgets a running call when its process dies. */
export interface IdempotencyStore {
  /** One conditional write: of many calls with one key, one gets the state `new`. */
  begin(call: IdempotentCall): Promise<KeyState>;
  /**
   * Stores the answer of a call that is not charged; `Store.charge` stores that of a charged call.
   * Throws `StoreError` if another call has the key by now.
   */
  answer(call: EndedCall): Promise<void>;
  /** Frees the key for another call, unless its call was answered. */
  forget(call: Pick<IdempotentCall, 'account_id' | 'key_sha256' | 'request_id'>): Promise<void>;
  /**
   * Removes expired keys, and resolves with their number. Then evicts the oldest answers of the
   * accounts that store the most, but not their keys, until all answers together have no more than
   * `total_bytes`, and the answers of free calls a tenth of it.
   */
  sweep(total_bytes: number): Promise<number>;
}
