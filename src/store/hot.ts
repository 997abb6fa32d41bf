import { MAX_NANO } from './nano.js';
import { StoreError, type Charge, type Store } from './types.js';

/** The part of a store that every request walks through, written once for each database. */
export interface Hot extends Pick<
  Store,
  'caller' | 'hold' | 'settle' | 'release' | 'beat' | 'ping'
> {
  /** Resolves when everything that was asked for is written. */
  close(): Promise<void>;
}

/** A key that was noted as used this lately is not noted again. */
export const TOUCH_EVERY_MS = 60_000;

export function checkHold(amount_nano: bigint): void {
  if (amount_nano < 0n) throw new StoreError('A hold cannot be below zero.');
}

export function checkCharge({ request_id, cost_nano }: Charge): void {
  if (cost_nano >= 0n && cost_nano <= MAX_NANO) return;
  throw new StoreError(`The charge of request ${request_id} is not an amount: ${cost_nano}.`);
}

export function noAccount(account_id: string): StoreError {
  return new StoreError(`There is no account ${account_id}.`);
}

export function tooLowBalance(account_id: string): StoreError {
  return new StoreError(`The balance of account ${account_id} would pass the 64-bit column.`);
}
