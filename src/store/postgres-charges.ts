import { tooLowBalance, type ChargeAct } from './hot.js';
import { takenOver } from './idempotency.js';
import type { LaneWork } from './lanes.js';
import { codeOf } from './patience.js';
import { valuesOf } from './postgres-idempotency.js';
import { isAtFault, type Lent } from './postgres-lent.js';

const OUT_OF_RANGE = '22003';

/**
 * Enters charges on PostgreSQL and ends their holds: one statement for one, or for many of one
 * account under one key. Tried again after a lost connection too: the ledger's unique key makes
 * that harmless.
 */
export class PostgresCharges implements LaneWork<ChargeAct, boolean> {
  constructor(private readonly lent: Lent) {}

  async alone({ charge, answered }: ChargeAct): Promise<boolean> {
    const { account_id, request_id, cost_nano, key_id, model, provider, usage } = charge;
    const values: unknown[] = [account_id, request_id, cost_nano, key_id, model, provider, usage];
    values.push(charge.estimated, this.lent.now());
    if (answered) values.push(...valuesOf(answered).slice(2));
    try {
      const name = answered ? 'settleKept' : 'settle';
      const { rows } = await this.lent.insist<{ first: boolean; kept?: boolean }>(name, values);
      if (answered && rows[0]?.kept !== true) throw takenOver(answered);
      return rows[0]?.first === true;
    } catch (error) {
      if (codeOf(error) === OUT_OF_RANGE) throw tooLowBalance(account_id);
      throw error;
    }
  }

  async together(acts: readonly ChargeAct[]): Promise<boolean[] | undefined> {
    const charges = acts.map(({ charge }) => charge);
    const { account_id, key_id } = charges[0] ?? {};
    const values = [
      account_id,
      charges.map(({ request_id }) => request_id),
      charges.map(({ cost_nano }) => cost_nano),
      key_id,
      charges.map(({ model }) => model),
      charges.map(({ provider }) => provider),
      charges.map(({ usage }) => usage),
      charges.map(({ estimated }) => estimated),
      this.lent.now(),
    ];
    try {
      const { rows } = await this.lent.insist<{ reference: string }>('settleAll', values);
      const first = new Set(rows.map(({ reference }) => reference));
      // Of two charges of one request the one is made, and the other hears so.
      return charges.map(({ request_id }) => first.delete(request_id));
    } catch (error) {
      if (isAtFault(error)) return undefined;
      throw error;
    }
  }
}
