import type { Knex } from 'knex';
import { formatDollars } from '../../lib/money.js';
import { sumsOf, total_nano } from './verify-sums.js';

interface Row {
  id: string;
  limit_nano: bigint | null;
  held_nano: bigint;
  spent_nano: bigint;
}

/** A key with a limit counts what it holds and has spent; one without counts nothing. */
export async function faultsOfKeys(trx: Knex.Transaction): Promise<string[]> {
  const keys: Row[] = await trx('keys')
    .whereNotNull('limit_nano')
    .orWhere('held_nano', '<>', 0)
    .orWhere('spent_nano', '<>', 0)
    .orderBy('id')
    .select('id', 'limit_nano', 'held_nano', 'spent_nano');
  const limited = trx('keys').whereNotNull('limit_nano').select('id');
  const owner = 'key_id';
  const spent = await sumsOf(
    trx,
    trx('ledger').whereNot('kind', 'credit').whereIn(owner, limited.clone()),
    { owner },
  );
  const holds = await sumsOf(trx, trx('holds').whereNotNull(owner), { owner });
  const tasks = await sumsOf(
    trx,
    trx('tasks').whereNot('hold_nano', 0).whereIn(owner, limited.clone()),
    { owner, amount: 'hold_nano' },
  );
  const faults = keys.flatMap((key) => {
    const open_nano = total_nano(holds.get(key.id)) + total_nano(tasks.get(key.id));
    return faultsOf(key, { spent_nano: -total_nano(spent.get(key.id)), open_nano });
  });
  const known = new Set(keys.map(({ id }) => id));
  const strangers = [...holds]
    .filter(([key_id]) => !known.has(key_id))
    .map(
      ([key_id, sum]) =>
        `Holds of ${formatDollars(total_nano(sum))} dollars are counted for key ${key_id}, ` +
        'which has no limit.',
    );
  return [...faults, ...strangers];
}

function faultsOf(
  { id, limit_nano, held_nano, spent_nano }: Row,
  sums: { spent_nano: bigint; open_nano: bigint },
): string[] {
  if (limit_nano === null) return [`Key ${id} has no limit, but counts what it spends.`];
  const faults: string[] = [];
  if (spent_nano !== sums.spent_nano) {
    faults.push(
      `Key ${id} has spent ${formatDollars(spent_nano)} dollars, ` +
        `but its charges add up to ${formatDollars(sums.spent_nano)}.`,
    );
  }
  if (held_nano !== sums.open_nano) {
    faults.push(
      `Key ${id} has ${formatDollars(held_nano)} dollars held, ` +
        `but its open holds add up to ${formatDollars(sums.open_nano)}.`,
    );
  }
  return faults;
}
