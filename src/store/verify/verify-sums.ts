import type { Knex } from 'knex';

/** What the rows of one owner come to. */
export interface Sum {
  owner: string;
  rows: bigint;
  dollars: bigint;
  nano: bigint;
}

const NANO_PER_DOLLAR = 1_000_000_000n;

/**
 * The sum of the rows by their owner. Dollars and the rest are summed apart: the sum of the whole
 * column could pass 64 bits.
 */
export async function sumsOf(
  trx: Knex.Transaction,
  rows: Knex.QueryBuilder,
  { owner = 'account_id', amount = 'amount_nano' } = {},
): Promise<Map<string, Sum>> {
  const sums: Sum[] = await rows
    .groupBy(owner)
    .select(
      trx.raw(`${owner} as owner`),
      trx.raw('count(*) as "rows"'),
      trx.raw(`cast(sum(${amount} / ${NANO_PER_DOLLAR}) as bigint) as dollars`),
      trx.raw(`cast(sum(${amount} % ${NANO_PER_DOLLAR}) as bigint) as nano`),
    );
  return new Map(sums.map((sum) => [sum.owner, sum]));
}

export function total_nano(sum: Sum | undefined): bigint {
  return sum ? sum.dollars * NANO_PER_DOLLAR + sum.nano : 0n;
}
