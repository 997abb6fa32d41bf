import type { Database } from '../database.js';

/** The alerts that were sent by any process on one store. */
export interface AlertStore {
  /** True for the one caller that is to send the alert, until it clears or after `again_ms`. */
  claim(condition: string, again_ms: number): Promise<boolean>;
  /** Notes that the condition is over. */
  clear(condition: string): Promise<void>;
}

/** After this time a condition that was never cleared is deleted. */
const FORGET_MS = 90 * 24 * 3_600_000;

export function openAlertClaims(database: Database, now: () => number): AlertStore {
  return {
    claim: (condition, again_ms) =>
      database.write(async (trx) => {
        const now_ms = now();
        await trx('alert_claims')
          .where('reported_ms', '<', now_ms - FORGET_MS)
          .delete();
        const row = { condition, reported_ms: now_ms };
        const claimed: unknown[] = await trx('alert_claims')
          .insert(row)
          .onConflict('condition')
          .merge()
          .where('alert_claims.reported_ms', '<=', now_ms - again_ms)
          .returning('condition');
        return claimed.length > 0;
      }),
    clear: (condition) =>
      database.write(async (trx) => {
        await trx('alert_claims').where({ condition }).delete();
      }),
  };
}
