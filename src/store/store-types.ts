import type { EndedCall, IdempotencyStore } from './idempotency/idempotency-types.js';
import type { SignInStore } from './sign-in/sign-in-types.js';
import type { TaskStore } from './tasks/task-types.js';
import type { Caller } from '../core/model.js';
import type { Account } from './accounts/accounts.js';
import type { Actor } from '../core/actor.js';
import type { AuditStore } from './audit/audit-log.js';
import type { RefundableCharge, RefundRequest } from './ledger/refund.js';
import type { TokenStore } from './tokens/management-tokens.js';
import type { Key, KeyTerms } from './keys/keys.js';
import type { Charge, LedgerEntry } from './ledger/ledger-columns.js';
import type { LedgerPage } from './ledger/ledger.js';
import type { UsageRow } from './ledger/usage.js';
import type { HostedImageStore } from './images/hosted-images.js';
import type { VerifyReport } from './verify/verify.js';
import type { OpenHolds } from './verify/open-holds.js';
import type { AlertStore } from './alerts/alert-claims.js';
import type { PriceHistory } from './prices/price-history.js';
import type { RequestStore } from './requests/request-types.js';
import type { RequestRecord } from '../core/request-record.js';

/** The answer of `hold`: admitted, or the reason of the refusal. */
export type HoldResult = { admitted: true } | HoldRefusal;

/**
 * With the figures that explain a 402. A key that has `ended` was revoked, or has expired; one that
 * is `suspended` belongs to a suspended account.
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
  | { admitted: false; because: 'ended' | 'suspended' };

/** The outcome of a charge. */
export interface Settled {
  /** The part that the account or the key could not pay, and the cost the client never owed. */
  uncollected_nano: bigint;
}

export interface Store {
  readonly dialect: 'sqlite' | 'postgres';

  // The hot path: prepared once, one trip each.
  /** The caller of an active key by the SHA-256 (hex) of its secret; notes its use, coarsely. */
  caller(secret_sha256: string): Promise<Caller | undefined>;
  /**
   * One conditional write, else nothing changes: `balance - held >= amount` of the account and, for
   * a key with a limit, `limit - spent - held >= amount`. A key that was revoked is refused from
   * the moment that `revokeKey` has resolved, and any key once `suspend` has. Without a key the
   * account alone is asked. A hold is to be ended only once this has been answered.
   */
  hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id?: string,
  ): Promise<HoldResult>;
  /** The same for calls that hold nothing: refuses a key that has ended, or is suspended. */
  admit(key_id: string): Promise<HoldResult>;
  /**
   * Ends the hold and writes the charge in one transaction. Committed when it resolves. Of what is
   * due it collects as much as the balance, beside all other holds, and the key's limit bear, never
   * below zero; the rest is written beside the charge. A second charge of the same request changes
   * nothing and answers false. A hold that is already gone (its lease ran out) does not stop the
   * charge, which is collected in the same way. What the client is answered is kept in the same
   * transaction, where its call may be repeated; if another call has that one's key by now, there
   * is no charge, and `StoreError` is thrown. The record of the request goes into the same
   * transaction, with what was collected; a record that cannot be written stops no charge.
   */
  settle(charge: Charge, answered?: EndedCall, record?: RequestRecord): Promise<Settled | false>;
  /** Ends a hold without a charge; no fault if there is none. */
  release(request_id: string, account_id: string): Promise<void>;

  /** Calls that their clients may repeat. */
  readonly idempotency: IdempotencyStore;

  /** What is known of each request, without its content. */
  readonly requests: RequestStore;

  /** What tokens cost at each upstream, then and now. */
  readonly prices: PriceHistory;

  /** Video tasks: their holds and charges live with them, not with a process. */
  readonly tasks: TaskStore;

  /** Generated images that clients fetch by URL. */
  readonly images: HostedImageStore;

  /** Identities, sessions and sign-in links. */
  readonly sign_in: SignInStore;

  /** The tokens of programs that manage the gateway. */
  readonly tokens: TokenStore;

  /**
   * Every change by an operator, a token, a person or the command line. Each function below that
   * changes something writes its row in its own transaction; `by` is the gateway itself where it
   * is left out. A repeated call that changes nothing writes nothing.
   */
  readonly audit: AuditStore;

  // The rest.
  createAccount(name: string, credit_nano: bigint, by?: Actor): Promise<Account>;
  /** All of them, oldest first; or a page by name, after the name that was seen last. */
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
   * Enters a row that reverses a charge, or a part of it, and gives the key its part of the limit
   * back. The same reference twice refunds once. Throws `NoCharge` for an unknown charge, and
   * `StoreError` for more than is left of it.
   */
  refund(asked: RefundRequest, by?: Actor): Promise<LedgerEntry>;
  /** A charge, and what refunds have left of it. Throws `NoCharge` for an unknown one. */
  refundable(asked: Pick<RefundRequest, 'request_id' | 'account_id'>): Promise<RefundableCharge>;
  /**
   * Refuses the keys of an account in every process from the moment that this resolves; answers
   * that run already are finished and charged. False if the account is suspended already.
   */
  suspend(account_id: string, by?: Actor): Promise<boolean>;
  /** Ends a suspension. False if the account is not suspended. */
  resume(account_id: string, by?: Actor): Promise<boolean>;
  /**
   * The secret is in the answer and nowhere else. Throws `StoreError` for impossible terms, and
   * `AccountSuspended` for an account that is, `TooManyKeys` and `KeyExists` as the terms say.
   */
  createKey(
    account_id: string,
    name: string,
    terms?: KeyTerms,
    by?: Actor,
  ): Promise<{ key: Key; secret: string }>;
  keys(account_id: string): Promise<Key[]>;
  /** True for every key there ever was, also a revoked one, by the SHA-256 (hex) of its secret. */
  isKey(secret_sha256: string): Promise<boolean>;
  /**
   * False for an unknown key, one that is revoked already, or another account's where one is named.
   * In force when it resolves.
   */
  revokeKey(key_id: string, account_id?: string, by?: Actor): Promise<boolean>;
  ledger(account_id: string, page: LedgerPage): Promise<LedgerEntry[]>;
  /**
   * From one time up to another, which is not part of it. Throws `StoreError` for more than 366
   * days. By day, model and key.
   */
  usage(account_id: string, range: { from_ms: number; to_ms: number }): Promise<UsageRow[]>;
  /**
   * What each key of an account has spent on whole days of UTC, less what was refunded on them. It
   * is read from the totals of the requests, which are a second or two behind the charges.
   */
  spend(
    account_id: string,
    range: { from_ms: number; to_ms: number },
  ): Promise<ReadonlyMap<string, bigint>>;
  verify(): Promise<VerifyReport>;
  /** The holds that are open now, those of tasks too. */
  openHolds(): Promise<OpenHolds>;

  readonly alerts: AlertStore;

  /** Sends a heartbeat, which keeps the holds of this process, and stores its note. */
  beat(note?: string): Promise<void>;
  /** The last note of each live process. */
  notes(): Promise<string[]>;
  /** Releases the holds of dead processes; answers how many. */
  recover(): Promise<number>;
  ping(): Promise<void>;
  /** The holds of all processes that have not ended. */
  openHolds(): Promise<OpenHolds>;
  close(): Promise<void>;
}
