import type { Database } from '../database.js';

/** Which alerts were told, for all processes on one store. */
export interface AlertStore {
  /** True for the one caller that may tell of it, until it clears or `again_ms` have passed. */
  claim(condition: string, again_ms: number): Promise<boolean>;
  /** The condition is over. */
  clear(condition: string): Promise<void>;
}

/** Conditions of accounts and keys that nobody has cleared are forgotten then. */
const FORGET_MS = 90 * 24 * 3_600_000;

export function openAlertClaims(database: Database, now: () => number): AlertStore {
  return {
    claim: (condition, again_ms) =>
      database.write(async (trx) => {
        const now_ms = now();
        await trx('alert_claims')
          .where('told_ms', '<', now_ms - FORGET_MS)
          .delete();
        const row = { condition, told_ms: now_ms };
        const told: unknown[] = await trx('alert_claims')
          .insert(row)
          .onConflict('condition')
          .merge()
          .where('alert_claims.told_ms', '<=', now_ms - again_ms)
          .returning('condition');
        return told.length > 0;
      }),
    clear: (condition) =>
      database.write(async (trx) => {
        await trx('alert_claims').where({ condition }).delete();
      }),
  };
}
