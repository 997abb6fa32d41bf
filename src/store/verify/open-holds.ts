import { NANO_PER_DOLLAR } from '../../lib/money.js';
import type { Knex } from 'knex';
import type { Database } from '../database.js';

/** The open holds of calls and tasks together. */
export interface OpenHolds {
  count: number;
  amount_nano: bigint;
}

/** See `Store.openHolds`. */
export async function openHolds(database: Database): Promise<OpenHolds> {
  const [holds, tasks] = await database.snapshot(async (trx) => [
    await counted(trx, trx('holds'), 'amount_nano'),
    await counted(trx, trx('tasks').whereNot('hold_nano', 0), 'hold_nano'),
  ]);
  return {
    count: (holds?.count ?? 0) + (tasks?.count ?? 0),
    amount_nano: (holds?.amount_nano ?? 0n) + (tasks?.amount_nano ?? 0n),
  };
}

/** Sums dollars and the rest separately, as the sum of the column could exceed 64 bits. */
async function counted(
  trx: Knex.Transaction,
  rows: Knex.QueryBuilder,
  column: string,
): Promise<OpenHolds> {
  const sum = (of: string, name: string): Knex.Raw =>
    trx.raw(`cast(coalesce(sum(${column} ${of} ${NANO_PER_DOLLAR}), 0) as bigint) as ${name}`);
  const found = (await rows.first(
    trx.raw('count(*) as count'),
    sum('/', 'dollars'),
    sum('%', 'rest'),
  )) as Record<'count' | 'dollars' | 'rest', bigint>;
  const amount_nano = found.dollars * NANO_PER_DOLLAR + found.rest;
  return { count: Number(found.count), amount_nano };
}
