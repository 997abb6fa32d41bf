import type { SessionLimits } from '../../core/configuration.js';
import type { Actor } from '../../core/actor.js';
import type { Account } from '../accounts/accounts.js';

/** The identity of a person at a provider. `subject` never changes; the address may. */
export interface Identity {
  /** The entry of `sign_in.providers` that vouches for it. */
  provider: string;
  subject: string;
  /** Verified by the provider, in ASCII lower case. */
  email: string;
}

/** A signed-in person. The cookie holds the session's secret, the store only its hash. */
export interface Session {
  account_id: string;
  account_name: string;
  /** Null for one that began with a link. */
  email: string | null;
  /** An entry of `sign_in.providers`, or `link`. */
  via: string;
  /** Given by the link. Those who sign in by address are operators while the file says so. */
  operator: boolean;
  /** The account is suspended: its keys are refused, and it gets no new ones. */
  suspended: boolean;
  created_ms: number;
  seen_ms: number;
}

export type NewSession = Pick<Session, 'account_id' | 'email' | 'via' | 'operator'>;

/**
 * A sign-in that has gone to its provider and not come back yet; it belongs to one browser. What
 * proves that (state, nonce, verifier) is made from the browser's secret and kept nowhere.
 */
export interface PendingSignIn {
  provider: string;
  /** Where to go afterwards: a path of this site. */
  return_to: string;
}

export interface LinkOptions {
  operator: boolean;
  lifetime_ms: number;
  /** Who makes the link, for the audit log. */
  by?: Actor;
}

/** What the store keeps of people. Each secret is 32 random bytes, base64url, kept as SHA-256. */
export interface SignInStore {
  /**
   * The account of an identity. A new identity joins the account that is named by its address, or
   * becomes an account of that name with the credit. The same one twice at once makes one account.
   */
  signIn(identity: Identity, credit_nano: bigint): Promise<{ account: Account; newcomer: boolean }>;

  /** Answers the secret of the new session; ends the one it replaces in the same transaction. */
  createSession(session: NewSession, replaced_secret?: string): Promise<string>;
  /** Undefined for an unknown, ended or outlived one. Notes its use, coarsely. */
  session(secret: string, limits: SessionLimits): Promise<Session | undefined>;
  endSession(secret: string): Promise<void>;
  /** Ends all of the account; answers how many. */
  endSessions(account_id: string): Promise<number>;

  /** A link's secret, good once until `due_ms`. Throws `StoreError` for an unknown account. */
  createLink(account_id: string, options: LinkOptions): Promise<{ secret: string; due_ms: number }>;
  /** Undefined for an unknown, used or overdue one. Of many at once, one gets it. */
  useLink(secret: string): Promise<{ account_id: string; operator: boolean } | undefined>;

  /** Answers the secret by which the browser takes it up again, once. */
  beginSignIn(pending: PendingSignIn, lifetime_ms: number): Promise<string>;
  finishSignIn(secret: string): Promise<PendingSignIn | undefined>;

  /** Deletes overdue sessions and tokens. */
  sweep(limits: SessionLimits): Promise<void>;
}
