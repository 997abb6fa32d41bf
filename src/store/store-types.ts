import type { EndedCall, IdempotencyStore } from './idempotency/idempotency-types.js';
import type { SignInStore } from './sign-in/sign-in-types.js';
import type { TaskStore } from './tasks/task-types.js';
import type { Caller } from '../core/model.js';
import type { Account, AccountChange } from './accounts/accounts.js';
import type { Actor } from '../core/actor.js';
import type { AuditStore } from './audit/audit-log.js';
import type { RefundableCharge, RefundRequest } from './ledger/refund.js';
import type { TokenStore } from './tokens/management-tokens.js';
import type { KeyChange, Rotation } from './keys/key-changes.js';
import type { Key, NewKeyTerms } from './keys/keys.js';
import type { Charge, LedgerEntry } from './ledger/ledger-columns.js';
import type { LedgerPage } from './ledger/ledger.js';
import type { UsageRow } from './ledger/usage.js';
import type { UsageSplit } from './ledger/usage-days.js';
import type { LiveProcess } from './leases/leases.js';
import type { HostedImageStore } from './images/hosted-images.js';
import type { VerifyReport } from './verify/verify.js';
import type { OpenHolds } from './verify/open-holds.js';
import type { AlertStore } from './alerts/alert-claims.js';
import type { AllowanceState, AllowanceWindow } from '../core/limits.js';
import type { AllowanceOwner } from './limits/allowances.js';
import type { PriceHistory } from './prices/price-history.js';
import type { ReconciliationStore } from './reconcile/reconciliations.js';
import type { RestStore } from './rests/rests.js';
import type { RateStore } from './rates/rate-types.js';
import type { RequestStore } from './requests/request-types.js';
import type { RequestRecord } from '../core/request-record.js';

/**
 * The answer of `hold`: admitted, or the reason of the refusal. `windows` names those of allowances
 * in which the hold counts, for its charge.
 */
export type HoldResult = { admitted: true; windows?: string } | HoldRefusal;

/**
 * A refusal, with the figures that explain a 402. `ended`: the key was revoked or has expired.
 * `suspended`: its account is suspended.
 */
export type HoldRefusal =
  | { admitted: false; because: 'balance'; balance_nano: bigint; held_nano: bigint }
  | {
      admitted: false;
      because: 'limit';
      limit_nano: bigint;
      spent_nano: bigint;
      held_nano: bigint;
    }
  | {
      admitted: false;
      because: 'allowance';
      owner: AllowanceOwner;
      window: AllowanceWindow;
      /** With its temporary increase. */
      amount_nano: bigint;
      spent_nano: bigint;
      held_nano: bigint;
      /** When the amount returns. */
      ends_ms: number;
    }
  | { admitted: false; because: 'ended' | 'suspended' };

/** The outcome of a charge. */
export interface Collected {
  /** The part that the account or the key could not pay, and the cost the client never owed. */
  uncollected_nano: bigint;
}

/** Accounts, keys, money and all else that processes share, in SQLite or PostgreSQL. */
export interface Store {
  readonly dialect: 'sqlite' | 'postgres';

  // The hot path: each call is one prepared statement or one batch.
  /**
   * Finds the caller of an active key by the SHA-256 (hex) of its secret. Notes the use of the key
   * once a minute at most.
   */
  caller(secret_sha256: string): Promise<Caller | undefined>;
  /**
   * Takes a hold by one conditional write: `balance - held >= amount` for the account, for a key
   * with a limit `limit - spent - held >= amount`, and the same for every window of their
   * allowances. Otherwise nothing changes. A window that has ended begins anew. A key is refused
   * as soon as `revokeKey`, or `suspend` of its account, has resolved. Without a key, only the
   * account is checked. Do not end a hold before this has resolved.
   */
  hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id?: string,
  ): Promise<HoldResult>;
  /** Checks the key of a call that needs no hold: refuses one that has ended or is suspended. */
  admit(key_id: string): Promise<HoldResult>;
  /**
   * Ends the hold and writes the charge in one transaction, which is committed when this resolves.
   * Collects as much of the cost as the balance, less all other holds, and the key's limit allow,
   * and beyond the hold no more than the windows allow in which it counts; never less than zero.
   * The rest is written with the charge as uncollected. A second charge of the same request changes
   * nothing and resolves with false. A hold that is already gone (its lease ran out) does not stop
   * the charge, which is collected in the same way.
   *
   * `answered` is the answer of a call with an idempotency key. It is stored in the same
   * transaction; if another call has the key by now, nothing is charged, and `StoreError` is
   * thrown. The record of the request is written in the same transaction, with the amount
   * collected; a record that cannot be written does not stop the charge.
   */
  charge(charge: Charge, answered?: EndedCall, record?: RequestRecord): Promise<Collected | false>;
  /** Ends a hold without a charge. Does nothing if there is no such hold. */
  release(request_id: string, account_id: string): Promise<void>;

  /** Calls with an idempotency key, which clients may repeat. */
  readonly idempotency: IdempotencyStore;

  /** The records of requests, without their content. */
  readonly requests: RequestStore;

  /** Requests and tokens a minute, and requests at once. */
  readonly rates: RateStore;

  /** The prices of tokens at each upstream over time. */
  readonly prices: PriceHistory;

  /** What the bills of upstreams are compared with, and the last comparisons. */
  readonly reconciliations: ReconciliationStore;

  /** Video tasks: their holds and charges live with them, not with a process. */
  readonly tasks: TaskStore;

  /** Generated images that clients fetch by URL. */
  readonly images: HostedImageStore;

  /** Identities, sessions and sign-in links. */
  readonly sign_in: SignInStore;

  /** The tokens of programs that manage the gateway. */
  readonly tokens: TokenStore;

  /**
   * The log of every change by an operator, a token, a person or the command line. Each function
   * below writes its row in the transaction of its change; without `by`, the actor is the gateway
   * itself. A repeated call that changes nothing writes no row.
   */
  readonly audit: AuditStore;

  // The rest.
  createAccount(name: string, credit_nano: bigint, by?: Actor): Promise<Account>;
  /** Changes the limits of an account, at once for every process. */
  editAccount(account_id: string, change: AccountChange, by?: Actor): Promise<Account>;
  /** All accounts, oldest first, or a page of them by name, after the given name. */
  accounts(page?: { after?: string; limit: number }): Promise<Account[]>;
  /** By id or by name. */
  account(id_or_name: string): Promise<Account | undefined>;
  /** The same reference twice credits once; with another amount it throws `StoreError`. */
  credit(
    account_id: string,
    amount_nano: bigint,
    reference: string,
    by?: Actor,
  ): Promise<LedgerEntry>;
  /**
   * Enters a row that reverses a charge, or a part of it, and gives the amount back to the limit of
   * the key. The same reference twice refunds once. Throws `NoCharge` for an unknown charge, and
   * `StoreError` for more than is left of it.
   */
  refund(request: RefundRequest, by?: Actor): Promise<LedgerEntry>;
  /** A charge, and what refunds have left of it. Throws `NoCharge` for an unknown one. */
  refundable(request: Pick<RefundRequest, 'request_id' | 'account_id'>): Promise<RefundableCharge>;
  /**
   * Suspends an account: every process refuses its keys as soon as this resolves. Requests in
   * flight are finished and charged. False if the account is suspended already.
   */
  suspend(account_id: string, by?: Actor): Promise<boolean>;
  /** Ends a suspension. False if the account is not suspended. */
  resume(account_id: string, by?: Actor): Promise<boolean>;
  /**
   * Creates a key. The secret is in the result and stored nowhere. Throws `StoreError` for invalid
   * terms, `AccountSuspended` if the account is suspended, and `TooManyKeys` and
   * `IdTaken` as the terms say.
   */
  createKey(
    account_id: string,
    name: string,
    terms?: NewKeyTerms,
    by?: Actor,
  ): Promise<{ key: Key; secret: string }>;
  /**
   * Changes the terms of a key, at once for every process. Undefined if the key is unknown or
   * revoked. A first limit counts what the key has spent before. Throws as `createKey` does.
   */
  editKey(key_id: string, change: KeyChange, by?: Actor): Promise<Key | undefined>;
  /**
   * Gives a key a new secret; the one before works until the overlap ends, and an older one no
   * more. Undefined if the key is unknown or revoked. Throws `StoreError` for one that has expired,
   * or that has another prefix than the rotation says, and `AccountSuspended`.
   */
  rotateKey(
    key_id: string,
    rotation: Rotation,
    by?: Actor,
  ): Promise<{ key: Key; secret: string } | undefined>;
  keys(account_id: string): Promise<Key[]>;
  /** The key with this ID, also a revoked one, of any account. */
  key(id: string): Promise<Key | undefined>;
  /**
   * Whether there is such a key, also a revoked one, by the SHA-256 (hex) of its secret or of the
   * one before its last rotation.
   */
  isKey(secret_sha256: string): Promise<boolean>;
  /**
   * Revokes a key, which is refused as soon as this resolves. False if the key is unknown, revoked
   * already, or not of the given account.
   */
  revokeKey(key_id: string, account_id?: string, by?: Actor): Promise<boolean>;
  /** The allowances of these accounts or keys, by the ID of their owner, the shortest first. */
  allowances(
    owner_kind: AllowanceOwner,
    owner_ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly AllowanceState[]>>;
  ledger(account_id: string, page: LedgerPage): Promise<LedgerEntry[]>;
  /**
   * The usage of an account by day, model, key and agent, or by some of them: of the whole days of
   * UTC that have a part in the range. Throws `StoreError` for more than 366 days.
   */
  usage(
    account_id: string,
    range: { from_ms: number; to_ms: number },
    split?: readonly UsageSplit[],
  ): Promise<UsageRow[]>;
  /**
   * The spending of each key of an account on whole days of UTC, less the refunds on those days. It
   * is read from the totals of requests, which are a second or two behind the charges.
   */
  spend(
    account_id: string,
    range: { from_ms: number; to_ms: number },
  ): Promise<ReadonlyMap<string, bigint>>;
  verify(): Promise<VerifyReport>;
  /** The open holds of all processes, and of tasks. */
  openHolds(): Promise<OpenHolds>;

  readonly alerts: AlertStore;

  /** The upstreams that fail and are left alone. */
  readonly rests: RestStore;

  /** The time by the clock of the database, which all processes share. */
  clock(): Promise<number>;
  /**
   * Why this process may not serve the store any more, since a newer version has migrated it;
   * undefined if it may.
   */
  outdated(): Promise<string | undefined>;
  /**
   * Sends a heartbeat, which keeps the holds of this process, and stores its note, and what it says
   * of its box.
   */
  heartbeat(note?: string, box?: string): Promise<void>;
  /** The live processes that have this store open to serve, by their IDs. */
  processes(): Promise<LiveProcess[]>;
  /** The last note of each live process. */
  notes(): Promise<string[]>;
  /** Releases the holds of dead processes. Resolves with their number. */
  recover(): Promise<number>;
  /**
   * Ends the holds and the running calls of this process whose requests it does not know, and
   * resolves with their number. A hold younger than a lease stays. `known` is called once the rows
   * are read.
   */
  releaseForgotten(known: () => ReadonlySet<string>): Promise<number>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
