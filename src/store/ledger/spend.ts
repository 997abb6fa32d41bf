import { NANO_PER_DOLLAR } from '../../lib/money.js';
import type { Knex } from 'knex';
import type { Database } from '../database.js';
import { totals } from '../requests/request-totals.js';

interface Refunded {
  key_id: string | null;
  dollars: bigint;
  nano: bigint;
}

/** See `Store.spend`. The charges of a month may be millions, their totals are a few hundred. */
export async function spend(
  database: Database,
  account_id: string,
  range: { from_ms: number; to_ms: number },
): Promise<Map<string, bigint>> {
  const days = { ...range, account_id, period: 'day' } as const;
  const charged = await totals(database, { ...days, by: ['key_id'], figures: ['cost_nano'] });
  const spent = new Map(charged.map(({ key_id = '', cost_nano }) => [key_id, cost_nano]));
  for (const { key_id, dollars, nano } of await refundsOf(database, account_id, range)) {
    const key = key_id ?? '';
    spent.set(key, (spent.get(key) ?? 0n) - dollars * NANO_PER_DOLLAR - nano);
  }
  return spent;
}

/** Sums dollars and the rest separately, as the sum of the column could exceed 64 bits. */
async function refundsOf(
  database: Database,
  account_id: string,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<Refunded[]> {
  return database.read<Refunded[]>((knex) => {
    // `+ 0` keeps the planner off the index of times: the index of refunds is much smaller.
    const time = knex.raw('created_ms + 0') as unknown as string;
    const query: Knex.QueryBuilder = knex('ledger').where({ account_id }).whereNotNull('refund_of');
    return query
      .where(time, '>=', from_ms)
      .where(time, '<', to_ms)
      .groupBy('key_id')
      .select(
        'key_id',
        knex.raw(`cast(sum(amount_nano / ${NANO_PER_DOLLAR}) as bigint) as dollars`),
        knex.raw(`cast(sum(amount_nano % ${NANO_PER_DOLLAR}) as bigint) as nano`),
      );
  });
}
