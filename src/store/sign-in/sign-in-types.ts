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
  /** Null for a session that began with a link. */
  email: string | null;
  /** An entry of `sign_in.providers`, or `link`. */
  via: string;
  /** Set by a sign-in link. Other persons are operators while gateway.yaml lists their address. */
  operator: boolean;
  /** The account is suspended: its keys are refused, and it gets no new ones. */
  suspended: boolean;
  created_ms: number;
  seen_ms: number;
}

export type NewSession = Pick<Session, 'account_id' | 'email' | 'via' | 'operator'>;

/**
 * A sign-in that was sent to its provider and has not returned yet. It belongs to one browser: its
 * state, nonce and verifier are derived from the browser's secret and stored nowhere.
 */
export interface PendingSignIn {
  provider: string;
  /** The path of this site to which the browser goes afterwards. */
  return_to: string;
}

/** The terms of a sign-in link. */
export interface LinkOptions {
  operator: boolean;
  lifetime_ms: number;
  /** Who makes the link, for the audit log. */
  by?: Actor;
}

/** Identities, sessions and links. A secret is 32 random bytes, base64url, stored as SHA-256. */
export interface SignInStore {
  /**
   * The account of an identity. A new identity joins the account that its address names; without
   * one, an account of that name is created with the credit. Concurrent calls create one account.
   */
  signIn(identity: Identity, credit_nano: bigint): Promise<{ account: Account; newcomer: boolean }>;

  /** Resolves with the secret of the new session. Ends the one that it replaces. */
  createSession(session: NewSession, replaced_secret?: string): Promise<string>;
  /** Undefined for an unknown, ended or expired session. Notes its use once a minute at most. */
  session(secret: string, limits: SessionLimits): Promise<Session | undefined>;
  endSession(secret: string): Promise<void>;
  /** Ends all sessions of the account. Resolves with their number. */
  endSessions(account_id: string): Promise<number>;

  /**
   * The secret of a link, valid once until `due_ms`. Throws `StoreError` for an unknown account.
   */
  createLink(account_id: string, options: LinkOptions): Promise<{ secret: string; due_ms: number }>;
  /** Undefined for an unknown, used or expired link. Only one of concurrent calls gets it. */
  useLink(secret: string): Promise<{ account_id: string; operator: boolean } | undefined>;

  /** Resolves with the secret by which the browser continues the sign-in, once. */
  beginSignIn(pending: PendingSignIn, lifetime_ms: number): Promise<string>;
  finishSignIn(secret: string): Promise<PendingSignIn | undefined>;

  /** Deletes expired sessions, links and pending sign-ins. */
  sweep(limits: SessionLimits): Promise<void>;
}
