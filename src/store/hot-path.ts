import { MAX_NANO } from './column-values.js';
import type { HoldRefusal, HoldResult, Collected, Store } from './store-types.js';
import type { Rates } from '../core/limits.js';
import type { Caller } from '../core/model.js';
import type { EndedCall, IdempotencyStore } from './idempotency/idempotency-types.js';
import type { OpenWindow } from './limits/hold-windows.js';
import { StoreError } from './store-error.js';
import type { Charge } from './ledger/ledger-columns.js';
import type { HotRates } from './rates/rate-types.js';
import type { HotRequests } from './requests/request-types.js';
import type { RequestRecord } from '../core/request-record.js';

/** The part of a store that every request uses, written once for each database. */
export interface HotPath extends Pick<
  Store,
  'caller' | 'hold' | 'admit' | 'charge' | 'release' | 'heartbeat' | 'ping'
> {
  readonly idempotency: HotIdempotency;
  readonly requests: HotRequests;
  readonly rates: HotRates;
  /** Resolves when all pending commands are written. */
  close(): Promise<void>;
}

export type HotIdempotency = Omit<IdempotencyStore, 'sweep'>;

/** A hold to be taken. `key_id` is null where only the account is checked. */
export interface HoldCommand {
  request_id: string;
  account_id: string;
  amount_nano: bigint;
  key_id: string | null;
}

/** A charge to be written, with what is written in its transaction. */
export interface ChargeCommand {
  charge: Charge;
  /** The answer kept with the charge, if the call has an idempotency key. */
  answered: EndedCall | undefined;
  /** The record written with the charge. */
  record: RequestRecord | undefined;
}

/** How often the use of a key is noted at most. */
export const TOUCH_EVERY_MS = 60_000;

/** The error of a hold that no store accepts; undefined for a valid one. */
export function holdFault(amount_nano: bigint): StoreError | undefined {
  return amount_nano < 0n ? new StoreError('A hold cannot be below zero.') : undefined;
}

/** The error of a charge that no store accepts; undefined for a valid one. */
export function chargeFault(charge: Charge): StoreError | undefined {
  const { request_id, cost_nano, not_owed_nano = 0n } = charge;
  const isAmount = cost_nano >= 0n && not_owed_nano >= 0n && cost_nano + not_owed_nano <= MAX_NANO;
  if (isAmount) return undefined;
  return new StoreError(
    `The charge of request ${request_id} is not an amount: ${cost_nano} and ${not_owed_nano}.`,
  );
}

/** Whether a charge may cost more than its hold. Such a charge is not batched. */
export function isBeyondHold({ cost_nano, hold_nano, not_owed_nano }: Charge): boolean {
  return not_owed_nano !== undefined || (hold_nano !== undefined && cost_nano > hold_nano);
}

/** The outcome of a charge that was collected in full. */
export const COLLECTED: Collected = Object.freeze({ uncollected_nano: 0n });

/** The columns of a key that can refuse a hold. */
export interface KeyFigures {
  limit_nano: bigint | null;
  spent_nano: bigint;
  held_nano: bigint;
  revoked_ms: bigint | null;
  expires_ms: bigint | null;
}

/** Why a key refuses a hold of this amount; undefined if it allows the hold. */
export function refusalOf(
  { revoked_ms, expires_ms, limit_nano, spent_nano, held_nano }: KeyFigures,
  amount_nano: bigint,
  now_ms: number,
): HoldRefusal | undefined {
  if (revoked_ms !== null || (expires_ms !== null && Number(expires_ms) <= now_ms)) {
    return { admitted: false, because: 'ended' };
  }
  if (limit_nano === null || limit_nano - spent_nano - held_nano >= amount_nano) return undefined;
  return { admitted: false, because: 'limit', limit_nano, spent_nano, held_nano };
}

/** Why the windows refuse a hold: of those without room for it, the one that returns last. */
export function refusalOfWindows(
  windows: readonly OpenWindow[],
  needed_nano: bigint,
): HoldRefusal | undefined {
  const full = windows.filter(
    ({ amount_nano, spent_nano, held_nano }) => amount_nano - spent_nano - held_nano < needed_nano,
  );
  const [last] = full.toSorted((one, other) => Number(other.ends_ms - one.ends_ms));
  if (!last) return undefined;
  const { owner_kind: owner, window_name: window, amount_nano, spent_nano, held_nano } = last;
  const figures = { amount_nano, spent_nano, held_nano, ends_ms: Number(last.ends_ms) };
  return { admitted: false, because: 'allowance', owner, window, ...figures };
}

/** The result of a hold that was taken. */
export const ADMITTED: HoldResult = Object.freeze({ admitted: true });

/** The refusal of a key for a call that needs no hold. */
export function refusedKey(hasEnded: boolean): HoldRefusal {
  return { admitted: false, because: hasEnded ? 'ended' : 'suspended' };
}

/** The columns of a key and its account from which the hot path makes a caller. */
interface CallerColumns {
  key_id: string;
  account_id: string;
  models: string | null;
  suspended_ms: unknown;
  is_empty: boolean;
  key_rates: string | null;
  account_rates: string | null;
}

/** A caller, which several requests may share. */
export function callerOf(columns: CallerColumns): Caller {
  const { key_id, account_id, models, suspended_ms, is_empty } = columns;
  const { key_rates, account_rates } = columns;
  const caller: Caller = { key_id, account_id, models: modelsIn(models) };
  if (key_rates !== null) caller.key_rates = ratesIn(key_rates);
  if (account_rates !== null) caller.account_rates = ratesIn(account_rates);
  if (suspended_ms !== null) caller.suspended = true;
  if (is_empty) caller.empty = true;
  return Object.freeze(caller);
}

function ratesIn(column: string): Rates {
  return Object.freeze(JSON.parse(column) as Rates);
}

/** The models of a key, from their column. */
function modelsIn(column: string | null): readonly string[] | undefined {
  return column === null ? undefined : Object.freeze(JSON.parse(column) as string[]);
}
