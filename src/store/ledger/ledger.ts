import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import { formatDollars } from '../../lib/money.js';
import { writeAudit } from '../audit/audit-log.js';
import type { Database } from '../database.js';
import { noAccount, StoreError } from '../store-error.js';
import { checkedReference, fitsColumn, toBinding } from '../column-values.js';
import { ledgerRow, toEntry, type LedgerEntry, type LedgerRow } from './ledger-columns.js';

/**
 * A page of the ledger: the oldest entries after the one of that ID, oldest first, or the newest
 * before it, newest first (`before: Number.MAX_SAFE_INTEGER` begins with the newest of all).
 */
export interface LedgerPage {
  after?: number;
  before?: number;
  limit: number;
  /** Only entries with this reference. */
  reference?: string;
}

interface Figures {
  balance_nano: bigint;
  held_nano: bigint;
}

/**
 * Adds the amount to the balance; a negative amount lowers it. The same reference again changes
 * nothing, and resolves with the first entry. Throws `StoreError` for an unknown account, an amount
 * of zero, an invalid reference, another amount under the same reference, and a balance that would
 * fall below the open holds or exceed 64 bits.
 */
export async function credit(
  database: Database,
  now_ms: number,
  account_id: string,
  amount_nano: bigint,
  given_reference: string,
  by?: Actor,
): Promise<LedgerEntry> {
  if (amount_nano === 0n) throw new StoreError('The amount of a credit cannot be zero.');
  const reference = checkedReference(given_reference);
  return database.write(async (trx) => {
    const figures: Figures | undefined = await trx('accounts')
      .where({ id: account_id })
      .forUpdate()
      .first('balance_nano', 'held_nano');
    if (!figures) throw noAccount(account_id);
    const first = await creditOf(trx, account_id, reference);
    if (first) return checkSame(first, amount_nano);
    checkRoom(figures, amount_nano);
    const next_nano = figures.balance_nano + amount_nano;
    await trx('accounts')
      .where({ id: account_id })
      .update({ balance_nano: toBinding(next_nano) });
    await writeAudit(trx, now_ms, by, {
      action: 'account.credit',
      subject: account_id,
      account_id,
      before: { balance: formatDollars(figures.balance_nano) },
      after: { balance: formatDollars(next_nano), reference },
    });
    return enterCredit(trx, now_ms, account_id, amount_nano, reference);
  });
}

/** Writes only the row. The caller changes the balance in the same transaction. */
export async function enterCredit(
  trx: Knex.Transaction,
  now_ms: number,
  account_id: string,
  amount_nano: bigint,
  reference: string,
): Promise<LedgerEntry> {
  const rows: LedgerRow[] = await trx('ledger')
    .insert(
      ledgerRow({
        account_id,
        kind: 'credit',
        reference,
        amount_nano: toBinding(amount_nano),
        created_ms: now_ms,
      }),
    )
    .returning('*');
  const entry = rows[0];
  if (!entry) throw new StoreError('The credit was not written.');
  return toEntry(entry);
}

const KINDS: readonly LedgerEntry['kind'][] = ['credit', 'charge', 'refund'];

/** See `LedgerPage`. */
export async function ledger(
  database: Database,
  account_id: string,
  { after = 0, before, limit, reference }: LedgerPage,
): Promise<LedgerEntry[]> {
  const rows = await database.read<LedgerRow[]>((knex) => {
    const query = knex('ledger').where({ account_id }).where('id', '>', after).limit(limit);
    // The kinds select the unique index, which finds the reference. `+id` keeps the planner on it.
    if (reference !== undefined) query.where({ reference }).whereIn('kind', KINDS);
    const order = knex.raw(reference === undefined ? 'id' : '+id');
    if (before === undefined) return query.orderBy(order);
    return query.where('id', '<', before).orderBy(order, 'desc');
  });
  return rows.map(toEntry);
}

async function creditOf(
  trx: Knex.Transaction,
  account_id: string,
  reference: string,
): Promise<LedgerEntry | undefined> {
  const row: LedgerRow | undefined = await trx('ledger')
    .where({ account_id, kind: 'credit', reference })
    .first();
  return row && toEntry(row);
}

function checkSame(first: LedgerEntry, amount_nano: bigint): LedgerEntry {
  if (first.amount_nano === amount_nano) return first;
  throw new StoreError(
    `The reference "${first.reference}" was used already, for ` +
      `${formatDollars(first.amount_nano)} dollars.`,
  );
}

function checkRoom({ balance_nano, held_nano }: Figures, amount_nano: bigint): void {
  const balance = formatDollars(balance_nano);
  if (amount_nano < 0n && balance_nano - held_nano + amount_nano < 0n) {
    throw new StoreError(
      `The account has ${balance} dollars, of which ${formatDollars(held_nano)} are held: ` +
        `${formatDollars(-amount_nano)} cannot be taken away.`,
    );
  }
  if (!fitsColumn(balance_nano + amount_nano)) {
    throw new StoreError(`The account has ${balance} dollars, which cannot grow by that much.`);
  }
}
