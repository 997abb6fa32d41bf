import { noAccount } from '../store-error.js';
import { refusalOf, type HoldCommand } from '../hot-path.js';
import type { HoldRefusal, HoldResult } from '../store-types.js';
import type { KeyedBatch } from './keyed-batcher.js';
import { MAX_NANO } from '../column-values.js';
import { isDataError, type PostgresSession } from './postgres-session.js';

/** Takes holds on PostgreSQL: one statement for one hold, or for many of one account and key. */
export class PostgresHolds implements KeyedBatch<HoldCommand, HoldResult> {
  constructor(private readonly session: PostgresSession) {}

  async runOne({ request_id, account_id, amount_nano, key_id }: HoldCommand): Promise<HoldResult> {
    const { session } = this;
    const values = [request_id, account_id, amount_nano, session.process_id, session.now(), key_id];
    if (amount_nano <= MAX_NANO && (await this.#admits('hold', values))) return { admitted: true };
    const { rows } = await session.run<Figures>('figures', [account_id, key_id]);
    const figures = rows[0];
    if (!figures) throw noAccount(account_id);
    return refusalIn(figures, amount_nano, session.now());
  }

  /** Admits the holds together if the account and the key allow their sum. */
  async runBatch(commands: readonly HoldCommand[]): Promise<HoldResult[] | undefined> {
    const { session } = this;
    const { account_id, key_id } = commands[0] ?? {};
    const requests = commands.map(({ request_id }) => request_id);
    const amounts = commands.map(({ amount_nano }) => amount_nano);
    const sum_nano = amounts.reduce((sum, amount_nano) => sum + amount_nano, 0n);
    if (sum_nano > MAX_NANO) return undefined;
    const values = [
      requests,
      account_id,
      sum_nano,
      session.process_id,
      session.now(),
      key_id,
      amounts,
    ];
    try {
      if (!(await this.#admits('holdAll', values))) return undefined;
    } catch (error) {
      if (isDataError(error)) return undefined;
      throw error;
    }
    return commands.map(() => ({ admitted: true }));
  }

  async #admits(name: 'hold' | 'holdAll', values: unknown[]): Promise<boolean> {
    const { session } = this;
    const { rowCount } = await session.ensureRegistered(() => session.run(name, values));
    return rowCount !== null && rowCount > 0;
  }
}

/** Columns of the account and, if it exists, of the key. */
interface Figures {
  balance_nano: string;
  held_nano: string;
  suspended_ms: string | null;
  key_id: string | null;
  limit_nano: string | null;
  spent_nano: string | null;
  key_held_nano: string | null;
  revoked_ms: string | null;
  expires_ms: string | null;
}

/** Blames the account if the key allows the hold: both may have changed since the refusal. */
function refusalIn(figures: Figures, amount_nano: bigint, now_ms: number): HoldRefusal {
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
  const { balance_nano, held_nano, suspended_ms } = figures;
  if (suspended_ms !== null) return { admitted: false, because: 'suspended' };
  return {
    admitted: false,
    because: 'balance',
    balance_nano: BigInt(balance_nano),
    held_nano: BigInt(held_nano),
  };
}
