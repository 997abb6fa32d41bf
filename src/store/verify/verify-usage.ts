import type { Knex } from 'knex';
import { formatDollars, NANO_PER_DOLLAR } from '../../lib/money.js';

interface UsedSum {
  account_id: string;
  calls: bigint;
  dollars: bigint;
  rest: bigint;
}

const CALLS = `sum(case when kind = 'charge' then 1 else 0 end) as calls`;
const bigint = (sql: string, name: string): string => `cast(sum(${sql}) as bigint) as ${name}`;

/** The usage of an account's days adds up to the entries of the ledger that are in it. */
export async function faultsOfUsage(trx: Knex.Transaction): Promise<string[]> {
  const kept: UsedSum[] = await trx('usage_days')
    .groupBy('account_id')
    .select('account_id', trx.raw(bigint('calls', 'calls')))
    .select(trx.raw(bigint('amount_dollars', 'dollars')), trx.raw(bigint('amount_rest', 'rest')));
  const entries: UsedSum[] = await trx('ledger')
    .whereNot({ kind: 'credit' })
    .where('id', '<=', trx('request_roll_up').max('ledger_id'))
    .groupBy('account_id')
    .orderBy('account_id')
    .select('account_id', trx.raw(CALLS))
    .select(trx.raw(bigint(`amount_nano / ${NANO_PER_DOLLAR}`, 'dollars')))
    .select(trx.raw(bigint(`amount_nano % ${NANO_PER_DOLLAR}`, 'rest')));
  const keptBy = new Map(kept.map((sum) => [sum.account_id, wordsOf(sum)]));
  const due = new Map(entries.map((sum) => [sum.account_id, wordsOf(sum)]));
  return [...new Set([...due.keys(), ...keptBy.keys()])].flatMap((account_id) => {
    const [is = NOTHING, should = NOTHING] = [keptBy.get(account_id), due.get(account_id)];
    if (is === should) return [];
    return [`The usage of account ${account_id} is ${is}, but its ledger says ${should}.`];
  });
}

const NOTHING = '0 calls for 0.00 dollars';

function wordsOf({ calls, dollars, rest }: UsedSum): string {
  return `${calls} calls for ${formatDollars(-(dollars * NANO_PER_DOLLAR + rest))} dollars`;
}
