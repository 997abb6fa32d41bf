import type { Knex } from 'knex';
import { formatDollars } from '../../lib/money.js';
import type { AccountRow } from '../accounts/accounts.js';
import type { Database } from '../database.js';
import { faultsOfKeys } from './verify-keys.js';
import { sumsOf, total_nano, type Sum } from './verify-sums.js';
import { faultsOfTasks } from './verify-tasks.js';
import type { VerifyReport } from './verify-types.js';

/** Adds everything up again, on one state of the database, also beside a running `serve`. */
export async function verify(database: Database): Promise<VerifyReport> {
  return database.snapshot(async (trx) => {
    const accounts: AccountRow[] = await trx('accounts').orderBy(['created_ms', 'name']);
    const entries = await sumsOf(trx, trx('ledger'));
    const holds = await sumsOf(trx, trx('holds'));
    const tasks = await sumsOf(trx, trx('tasks').whereNot('hold_nano', 0), {
      amount: 'hold_nano',
    });
    const known = new Set(accounts.map(({ id }) => id));
    return {
      accounts: accounts.length,
      entries: countOf(entries),
      open_holds: countOf(holds) + countOf(tasks),
      faults: [
        ...accounts.flatMap((account) => faultsOf(account, entries, [holds, tasks])),
        ...strangers('Ledger entries', entries, known),
        ...strangers('Holds', holds, known),
        ...strangers('Holds of tasks', tasks, known),
        ...(await wrongSigns(trx)),
        ...(await wrongRests(trx)),
        ...(await duplicates(trx)),
        ...(await faultsOfKeys(trx)),
        ...(await faultsOfTasks(trx)),
      ],
    };
  });
}

function countOf(sums: ReadonlyMap<string, Sum>): number {
  return [...sums.values()].reduce((count, { rows }) => count + Number(rows), 0);
}

function faultsOf(
  { id, balance_nano, held_nano }: AccountRow,
  entries: ReadonlyMap<string, Sum>,
  holds: readonly ReadonlyMap<string, Sum>[],
): string[] {
  const faults: string[] = [];
  const earned_nano = total_nano(entries.get(id));
  if (balance_nano !== earned_nano) {
    faults.push(
      `Account ${id} has a balance of ${formatDollars(balance_nano)} dollars, ` +
        `but its ledger adds up to ${formatDollars(earned_nano)}.`,
    );
  }
  const open_nano = holds.reduce((sum, sums) => sum + total_nano(sums.get(id)), 0n);
  if (held_nano !== open_nano) {
    faults.push(
      `Account ${id} has ${formatDollars(held_nano)} dollars held, ` +
        `but its open holds add up to ${formatDollars(open_nano)}.`,
    );
  }
  return faults;
}

function strangers(
  what: string,
  sums: ReadonlyMap<string, Sum>,
  known: ReadonlySet<string>,
): string[] {
  return [...sums]
    .filter(([account_id]) => !known.has(account_id))
    .map(
      ([account_id, sum]) =>
        `${what} of ${formatDollars(total_nano(sum))} dollars belong to account ${account_id}, ` +
        'which does not exist.',
    );
}

async function wrongSigns(trx: Knex.Transaction): Promise<string[]> {
  const rows: { id: bigint; account_id: string; kind: string; amount_nano: bigint }[] = await trx(
    'ledger',
  )
    .where((row) => row.where('kind', 'charge').andWhere('amount_nano', '>', 0))
    .orWhere((row) => row.where('kind', 'credit').andWhere('amount_nano', 0))
    .orderBy('id')
    .select('id', 'account_id', 'kind', 'amount_nano');
  return rows.map(
    ({ id, account_id, kind, amount_nano }) =>
      `Entry ${id} of account ${account_id} is a ${kind} of ` +
      `${formatDollars(amount_nano)} dollars.`,
  );
}

/** Only a charge can be due more than was collected. */
async function wrongRests(trx: Knex.Transaction): Promise<string[]> {
  const rows: { id: bigint; account_id: string; kind: string; uncollected_nano: bigint }[] =
    await trx('ledger')
      .where('uncollected_nano', '<', 0)
      .orWhere((row) => row.whereNot('kind', 'charge').andWhereNot('uncollected_nano', 0))
      .orderBy('id')
      .select('id', 'account_id', 'kind', 'uncollected_nano');
  return rows.map(
    ({ id, account_id, kind, uncollected_nano }) =>
      `Entry ${id} of account ${account_id} is a ${kind} with ` +
      `${formatDollars(uncollected_nano)} dollars uncollected.`,
  );
}

/** The table's unique key forbids them, unless someone took it away. */
async function duplicates(trx: Knex.Transaction): Promise<string[]> {
  const columns = ['account_id', 'kind', 'reference'];
  const rows: { account_id: string; kind: string; reference: string; times: bigint }[] = await trx(
    'ledger',
  )
    .groupBy(columns)
    .having(trx.raw('count(*) > 1'))
    .select(...columns, trx.raw('count(*) as times'));
  return rows.map(
    ({ account_id, kind, reference, times }) =>
      `Account ${account_id} has ${times} entries for the ${kind} "${reference}".`,
  );
}
