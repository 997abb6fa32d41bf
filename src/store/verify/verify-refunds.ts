import type { Knex } from 'knex';
import { formatDollars } from '../../lib/money.js';

interface Refunded {
  account_id: string;
  refund_of: string | null;
  refunded_nano: bigint;
  charge_nano: bigint | null;
}

/** Every refund reverses a charge of its account, and all of a charge are at most that charge. */
export async function faultsOfRefunds(trx: Knex.Transaction): Promise<string[]> {
  const refunds = trx('ledger')
    .where({ kind: 'refund' })
    .groupBy('account_id', 'refund_of')
    .select('account_id', 'refund_of', trx.raw('cast(sum(amount_nano) as bigint) as refunded_nano'))
    .as('refunds');
  const rows: Refunded[] = await trx
    .from(refunds)
    .leftJoin('ledger as charge', (join) =>
      join
        .on('charge.account_id', 'refunds.account_id')
        .andOn('charge.reference', 'refunds.refund_of')
        .andOnVal('charge.kind', 'charge'),
    )
    .orderBy(['refunds.account_id', 'refunds.refund_of'])
    .select('refunds.*', 'charge.amount_nano as charge_nano');
  return rows.flatMap(faultsOfRefund);
}

function faultsOfRefund({ account_id, refund_of, refunded_nano, charge_nano }: Refunded): string[] {
  const refunded = `Account ${account_id} was refunded ${formatDollars(refunded_nano)} dollars`;
  if (charge_nano === null) return [`${refunded} of the request ${refund_of}, without a charge.`];
  if (refunded_nano <= -charge_nano) return [];
  return [`${refunded} of a charge of ${formatDollars(-charge_nano)}, the request ${refund_of}.`];
}
