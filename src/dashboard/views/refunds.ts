import type { Actor } from '../../core/actor.js';
import { GatewayError } from '../../core/errors.js';
import { parseDollars } from '../../lib/money.js';
import type { AccountRefund } from '../../schema-types/account-refund.js';
import type { Account } from '../../store/accounts/accounts.js';
import type { LedgerEntry } from '../../store/ledger/ledger-columns.js';
import type { RefundableCharge } from '../../store/ledger/refund.js';
import { NoCharge } from '../../store/store-error.js';
import type { DashboardServices } from '../types.js';
import { accountOf, asInvalid } from './accounts.js';

/**
 * Refunds a charge or a part of it, for the API and for the form. The same reference a second time
 * changes nothing. Throws `GatewayError`: 404 for an unknown account or charge, 400 for an amount
 * above what is left of the charge.
 */
export async function refundCharge(
  { store }: DashboardServices,
  account_id: string,
  { request_id, amount, reference }: AccountRefund,
  by: Actor,
): Promise<{ entry: LedgerEntry; account: Account }> {
  await accountOf(store, account_id);
  const refund = {
    request_id,
    account_id,
    ...(amount !== undefined && { amount_nano: parseDollars(amount) }),
    ...(reference !== undefined && { reference: reference.trim() }),
  };
  if (refund.reference === '') {
    const param = 'reference';
    throw new GatewayError('invalid_request', 'reference must not be empty.', { param });
  }
  const entry = await asNotFound(() => asInvalid('amount', () => store.refund(refund, by)));
  return { entry, account: await accountOf(store, account_id) };
}

/** A charge of the account, with the refundable amount. Throws `GatewayError` (404). */
export function refundableOf(
  { store }: DashboardServices,
  account_id: string,
  request_id: string,
): Promise<RefundableCharge> {
  return asNotFound(() => store.refundable({ request_id, account_id }));
}

/** Turns `NoCharge` into a 404. */
async function asNotFound<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NoCharge)) throw error;
    throw new GatewayError('not_found', 'There is no such charge.', { cause: error });
  }
}
