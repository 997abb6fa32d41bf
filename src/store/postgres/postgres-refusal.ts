import { refusalOf } from '../hot-path.js';
import type { HoldRefusal } from '../hold-types.js';

/** Of the account and, where it is known, of the key. */
export interface Figures {
  balance_nano: string;
  held_nano: string;
  key_id: string | null;
  limit_nano: string | null;
  spent_nano: string | null;
  key_held_nano: string | null;
  revoked_ms: string | null;
  expires_ms: string | null;
}

/** Where the key is no obstacle, the account is; both may have changed since they refused. */
export function refusalIn(figures: Figures, amount_nano: bigint, now_ms: number): HoldRefusal {
  const { key_id, limit_nano, revoked_ms, expires_ms } = figures;
  const terms = {
    limit_nano: limit_nano === null ? null : BigInt(limit_nano),
    spent_nano: BigInt(figures.spent_nano ?? 0),
    held_nano: BigInt(figures.key_held_nano ?? 0),
    revoked_ms: revoked_ms === null ? null : BigInt(revoked_ms),
    expires_ms: expires_ms === null ? null : BigInt(expires_ms),
  };
  const refusal = key_id === null ? undefined : refusalOf(terms, amount_nano, now_ms);
  if (refusal) return refusal;
  const { balance_nano, held_nano } = figures;
  return {
    admitted: false,
    because: 'balance',
    balance_nano: BigInt(balance_nano),
    held_nano: BigInt(held_nano),
  };
}
