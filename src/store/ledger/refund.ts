import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import { formatDollars } from '../../lib/money.js';
import { writeAudit } from '../audit/audit-log.js';
import { checkedReference, fitsColumn, isPossible, toBinding } from '../column-values.js';
import type { Database } from '../database.js';
import { NoCharge, noAccount, StoreError } from '../store-error.js';
import { ledgerRow, toEntry, type LedgerEntry, type LedgerRow } from './ledger-columns.js';

/** A request to refund a charge, or a part of it. */
export interface RefundRequest {
  /** The request, or the video task, that was charged. */
  request_id: string;
  /** The account of the charge; any account if left out. */
  account_id?: string;
  /** If left out, all that earlier refunds have left of the charge. */
  amount_nano?: bigint;
  /** The same reference twice refunds once. By default it is made of request and amount. */
  reference?: string;
}

/** A charge, and the amount of it that is not refunded yet. */
export interface RefundableCharge {
  charge: LedgerEntry;
  left_nano: bigint;
}

/** See `Store.refund`. */
export async function refund(
  database: Database,
  now_ms: number,
  request: RefundRequest,
  by?: Actor,
): Promise<LedgerEntry> {
  const { amount_nano } = request;
  if (amount_nano !== undefined && amount_nano <= 0n) {
    throw new StoreError('A refund must be above zero.');
  }
  return database.write(async (trx) => {
    const charge = await chargeOf(trx, request);
    const balance_nano = await lock(trx, charge);
    const reference = referenceOf(request);
    const first = await refundOf(trx, charge.account_id, reference);
    if (first) return checkSame(first, request);
    const left_nano = await leftOf(trx, charge);
    const refund_nano = amount_nano ?? left_nano;
    checkAmount(charge, { refund_nano, left_nano, balance_nano });
    await pay(trx, charge, refund_nano);
    const entry = await enterRefund(trx, charge, { refund_nano, reference, now_ms });
    await writeAudit(trx, now_ms, by, {
      action: 'account.refund',
      subject: charge.reference,
      account_id: charge.account_id,
      before: { charged: formatDollars(left_nano) },
      after: { charged: formatDollars(left_nano - refund_nano), reference },
    });
    return entry;
  });
}

/** See `Store.refundable`. */
export async function refundable(
  database: Database,
  request: Pick<RefundRequest, 'request_id' | 'account_id'>,
): Promise<RefundableCharge> {
  return database.snapshot(async (trx) => {
    const charge = await chargeOf(trx, request);
    return { charge, left_nano: await leftOf(trx, charge) };
  });
}

function referenceOf({ request_id, amount_nano, reference }: RefundRequest): string {
  if (reference !== undefined) return checkedReference(reference);
  return amount_nano === undefined ? request_id : `${request_id} ${formatDollars(amount_nano)}`;
}

/** Throws `NoCharge` if there is no such charge. */
async function chargeOf(
  trx: Knex.Transaction,
  { request_id, account_id }: RefundRequest,
): Promise<LedgerEntry> {
  const id = isPossible(request_id) && (await chargeId(trx, request_id, account_id));
  const row: LedgerRow | undefined = id ? await trx('ledger').where({ id }).first() : undefined;
  if (!row) throw new NoCharge(request_id);
  return toEntry(row);
}

/** Looks up each account in the unique index of the ledger, which has no index by reference. */
async function chargeId(
  trx: Knex.Transaction,
  request_id: string,
  account_id: string | undefined,
): Promise<string | undefined> {
  const owners = account_id === undefined ? '' : 'where accounts.id = ?';
  const found: unknown = await trx
    .select('id')
    .from(
      trx.raw(
        `(select (select ledger.id from ledger where ledger.account_id = accounts.id
            and ledger.kind = 'charge' and ledger.reference = ?) as id
          from accounts ${owners}) as charges`,
        account_id === undefined ? [request_id] : [request_id, account_id],
      ),
    )
    .whereNotNull('id')
    .first();
  return (found as { id: bigint } | undefined)?.id.toString();
}

/** Locks the key and then the account, as the hot path does. Resolves with the balance. */
async function lock(trx: Knex.Transaction, { key_id, account_id }: LedgerEntry): Promise<bigint> {
  if (key_id !== null) await trx('keys').where({ id: key_id }).forUpdate().first('id');
  const account: { balance_nano: bigint } | undefined = await trx('accounts')
    .where({ id: account_id })
    .forUpdate()
    .first('balance_nano');
  if (!account) throw noAccount(account_id);
  return account.balance_nano;
}

async function refundOf(
  trx: Knex.Transaction,
  account_id: string,
  reference: string,
): Promise<LedgerEntry | undefined> {
  const row: LedgerRow | undefined = await trx('ledger')
    .where({ account_id, kind: 'refund', reference })
    .first();
  return row && toEntry(row);
}

function checkSame(first: LedgerEntry, { request_id, amount_nano }: RefundRequest): LedgerEntry {
  const isSame = amount_nano === undefined || amount_nano === first.amount_nano;
  if (isSame && first.refund_of === request_id) return first;
  throw new StoreError(
    `The reference "${first.reference}" was used already, for a refund of ` +
      `${formatDollars(first.amount_nano)} dollars of the request ${first.refund_of}.`,
  );
}

async function leftOf(
  trx: Knex.Transaction,
  { account_id, reference, amount_nano }: LedgerEntry,
): Promise<bigint> {
  const row: { sum: bigint | null } | undefined = await trx('ledger')
    .where({ account_id, refund_of: reference })
    .first(trx.raw('cast(sum(amount_nano) as bigint) as sum'));
  return -amount_nano - (row?.sum ?? 0n);
}

interface Amounts {
  refund_nano: bigint;
  left_nano: bigint;
  balance_nano: bigint;
}

function checkAmount(
  { reference, amount_nano }: LedgerEntry,
  { refund_nano, left_nano, balance_nano }: Amounts,
): void {
  const charged = formatDollars(-amount_nano);
  if (left_nano <= 0n) {
    throw new StoreError(
      `The charge of the request ${reference} was ${charged} dollars: nothing is left to refund.`,
    );
  }
  if (refund_nano > left_nano) {
    throw new StoreError(
      `The charge of the request ${reference} was ${charged} dollars, of which ` +
        `${formatDollars(left_nano)} can be refunded.`,
    );
  }
  if (!fitsColumn(balance_nano + refund_nano)) {
    throw new StoreError('The refund is more than the balance can hold.');
  }
}

/** Pays the account, and lowers what the key has spent, which frees that part of its limit. */
async function pay(
  trx: Knex.Transaction,
  { account_id, key_id }: LedgerEntry,
  refund_nano: bigint,
): Promise<void> {
  const amount = toBinding(refund_nano);
  if (key_id !== null) {
    await trx('keys')
      .where({ id: key_id })
      .whereNotNull('limit_nano')
      .update({ spent_nano: trx.raw('spent_nano - ?', [amount]) });
  }
  await trx('accounts')
    .where({ id: account_id })
    .update({ balance_nano: trx.raw('balance_nano + ?', [amount]) });
}

async function enterRefund(
  trx: Knex.Transaction,
  { account_id, key_id, model, provider, agent, cost_nano, reference: refund_of }: LedgerEntry,
  made: { refund_nano: bigint; reference: string; now_ms: number },
): Promise<LedgerEntry> {
  const { reference, refund_nano, now_ms } = made;
  const head = {
    account_id,
    kind: 'refund',
    reference,
    amount_nano: toBinding(refund_nano),
    created_ms: now_ms,
  } as const;
  // The upstream keeps what it took, so the refund changes the profit alone, where that is known.
  const cost = cost_nano === null ? {} : { upstream_cost_nano: 0n };
  const row = { ...ledgerRow(head, cost), key_id, model, provider, agent, refund_of };
  const rows: LedgerRow[] = await trx('ledger').insert(row).returning('*');
  const entry = rows[0];
  if (!entry) throw new StoreError('The refund was not written.');
  return toEntry(entry);
}
