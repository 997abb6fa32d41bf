export interface Account {
  id: string;
  name: string;
  balance_nano: bigint;
  held_nano: bigint;
  created_ms: number;
}

export interface Key {
  id: string;
  account_id: string;
  name: string;
  /** The first characters of the secret, enough to recognise it by. */
  prefix: string;
  created_ms: number;
  last_used_ms: number | null;
  revoked_ms: number | null;
  /** From when on it is refused; null for one that does not expire. */
  expires_ms: number | null;
  /** The only models that it may use; null for all. */
  models: string[] | null;
  /** What it may spend in all its life; null for no limit of its own. */
  limit_nano: bigint | null;
  /** What it has spent, if it has a limit; those without one are not counted. */
  spent_nano: bigint;
}

/** What a key may do, beside what its account may. Whatever is left out is not limited. */
export interface KeyTerms {
  expires_ms?: number;
  models?: readonly string[];
  limit_nano?: bigint;
  /** Throws `TooManyKeys` where the account has as many active keys already. */
  most_active?: number;
}

/** What one paid answer did, as it goes into the ledger. */
export interface Charge {
  request_id: string;
  account_id: string;
  /** The key under which its hold was taken. */
  key_id: string;
  /** What its hold has set aside. Known, it lets many charges be made at once. */
  hold_nano?: bigint;
  model: string;
  provider: string;
  /** What it is due, never negative. The ledger row is the negation of what can be collected. */
  cost_nano: bigint;
  /** What it cost beyond that and its client never owes; it is noted as uncollected as well. */
  not_owed_nano?: bigint;
  /** True where we counted the tokens, because the upstream's figures were missing or absurd. */
  estimated: boolean;
  /** JSON object of what was used, such as `{"prompt_tokens":9,"completion_tokens":5}`. */
  usage: string;
}

export interface LedgerEntry {
  id: number;
  account_id: string;
  kind: 'credit' | 'charge' | 'refund';
  /** The request that was charged, or the reference of a credit. Unique with account and kind. */
  reference: string;
  /** Signed: credits above zero, charges below. */
  amount_nano: bigint;
  key_id: string | null;
  model: string | null;
  provider: string | null;
  usage: string | null;
  estimated: boolean;
  /** What a charge was due beyond its amount, and could not be taken. */
  uncollected_nano: bigint;
  created_ms: number;
}

/**
 * A page of the ledger: the oldest entries after the one of that ID, oldest first, or the newest
 * before it, newest first (`before: Number.MAX_SAFE_INTEGER` begins with the newest of all).
 */
export interface LedgerPage {
  after?: number;
  before?: number;
  limit: number;
  /** Only what was entered under it. */
  reference?: string;
}

/** What was used and charged on a day, by model and key. */
export interface UsageRow {
  /** `YYYY-MM-DD`, of UTC. */
  day: string;
  model: string;
  key_id: string | null;
  calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  images: number;
  video_seconds: number;
  cost_nano: bigint;
}
