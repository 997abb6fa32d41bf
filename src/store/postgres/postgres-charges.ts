import { COLLECTED, type ChargeCommand } from '../hot-path.js';
import { lostOwnership } from '../idempotency/idempotency-keys.js';
import { CHARGE_COLUMNS, chargeValues, type Charge } from '../ledger/ledger-columns.js';
import type { KeyedBatch } from './keyed-batcher.js';
import { valuesOf } from './postgres-idempotency.js';
import { isDataError, type PostgresSession } from './postgres-session.js';
import { recordsJson } from './postgres-requests.js';
import type { Collected } from '../store-types.js';

/** The uncollected amount, in digits; null if the request was charged before. */
interface ChargeRow {
  uncollected_nano: string | null;
  kept?: boolean;
}

/**
 * Writes charges on PostgreSQL and ends their holds: one statement for one charge, or for many of
 * one account and key. It retries after a lost connection too, because the ledger's unique key
 * makes a second run harmless.
 */
export class PostgresCharges implements KeyedBatch<ChargeCommand, Collected | false> {
  /** `records` counts the records that were written with their charges, and those that were not. */
  constructor(
    private readonly session: PostgresSession,
    private readonly records: { lost: number; written: number },
  ) {}

  async runOne(command: ChargeCommand): Promise<Collected | false> {
    try {
      return await this.#chargeOne(command);
    } catch (error) {
      if (!command.record || !isDataError(error)) throw error;
      // PostgreSQL may have refused the record, which must not stop the charge.
      const collected = await this.#chargeOne({ ...command, record: undefined });
      this.records.lost += 1;
      return collected;
    }
  }

  async #chargeOne({ charge, answered, record }: ChargeCommand): Promise<Collected | false> {
    const { account_id, request_id, cost_nano, key_id, not_owed_nano = 0n } = charge;
    const values: unknown[] = [account_id, request_id, cost_nano, key_id, this.session.now()];
    values.push(not_owed_nano, charge.hold_windows ?? null);
    if (answered) values.push(...valuesOf(answered).slice(2));
    values.push(...chargeValues(charge), record ? recordsJson([record]) : null);
    const name = answered ? 'chargeKept' : 'charge';
    const { rows } = await this.session.runIdempotent<ChargeRow>(name, values);
    const [row] = rows;
    if (answered && row?.kept !== true) throw lostOwnership(answered);
    if (record) this.records.written += 1;
    return collectedOf(row?.uncollected_nano);
  }

  async runBatch(commands: readonly ChargeCommand[]): Promise<(Collected | false)[] | undefined> {
    const charges = commands.map(({ charge }) => charge);
    const { account_id, key_id } = charges[0] ?? {};
    const records = commands.flatMap(({ record }) => record ?? []);
    const values = [
      account_id,
      charges.map(({ request_id }) => request_id),
      charges.map(({ cost_nano }) => cost_nano),
      key_id,
      this.session.now(),
      charges.map(({ hold_windows }) => hold_windows ?? null),
      ...columnsOf(charges),
      recordsJson(records),
    ];
    try {
      const { rows } = await this.session.runIdempotent<ChargeRow & { reference: string }>(
        'chargeAll',
        values,
      );
      this.records.written += records.length;
      const collectedBy = new Map(
        rows.map((row) => [row.reference, collectedOf(row.uncollected_nano)]),
      );
      // Of two charges of one request the first is made; the second answers false.
      return charges.map(({ request_id }) => {
        const collected = collectedBy.get(request_id) ?? false;
        collectedBy.delete(request_id);
        return collected;
      });
    } catch (error) {
      if (isDataError(error)) return undefined;
      throw error;
    }
  }
}

/** The values of each charge column, as the lists that `chargeAll` takes. */
function columnsOf(charges: readonly Charge[]): unknown[][] {
  const rows = charges.map(chargeValues);
  return CHARGE_COLUMNS.map((_, at) => rows.map((row) => row[at]));
}

function collectedOf(uncollected_nano: string | null | undefined): Collected | false {
  if (uncollected_nano === null || uncollected_nano === undefined) return false;
  return uncollected_nano === '0' ? COLLECTED : { uncollected_nano: BigInt(uncollected_nano) };
}
