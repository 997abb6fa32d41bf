import type { Knex } from 'knex';
import { formatDollars } from '../../lib/money.js';

interface Row {
  id: string;
  status: string;
  content_id: string | null;
  hold_nano: bigint;
  charge_nano: bigint | null;
  amount_nano: bigint | null;
}

/** A task is charged exactly once if its result was fetched, else never; then it holds nothing. */
export async function faultsOfTasks(trx: Knex.Transaction): Promise<string[]> {
  const rows: Row[] = await trx('tasks')
    .leftJoin('ledger', (join) =>
      join
        .on('ledger.reference', 'tasks.id')
        .andOn('ledger.account_id', 'tasks.account_id')
        .andOnVal('ledger.kind', 'charge'),
    )
    .orderBy('tasks.id')
    .select('tasks.id', 'status', 'content_id', 'hold_nano', 'charge_nano', 'ledger.amount_nano');
  return rows.flatMap(faultsOf);
}

function faultsOf(row: Row): string[] {
  const { id, status, content_id, hold_nano, charge_nano, amount_nano } = row;
  const faults: string[] = [];
  const owed_nano = charge_nano ?? 0n;
  const paid_nano = -(amount_nano ?? 0n);
  if (owed_nano !== paid_nano) {
    faults.push(
      `Task ${id} says that it cost ${formatDollars(owed_nano)} dollars, ` +
        `but its ledger says ${formatDollars(paid_nano)}.`,
    );
  }
  if ((content_id === null) !== (charge_nano === null)) {
    faults.push(`Task ${id} has a content ID without a charge, or a charge without one.`);
  }
  if (hold_nano !== 0n && (status === 'FAILED' || content_id !== null)) {
    faults.push(`Task ${id} has ended, but still holds ${formatDollars(hold_nano)} dollars.`);
  }
  return faults;
}
