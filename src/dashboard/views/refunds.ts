import { chargedTaskOf } from '../../billing/charged-task.js';
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

const NO_CHARGE = 'There is no such charge.';

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
  const refunded = () => asInvalid('amount', () => store.refund(refund, by));
  const entry = await asNotFound(store, refund, refunded);
  return { entry, account: await accountOf(store, account_id) };
}

/** A charge of the account, with the refundable amount. Throws `GatewayError` (404). */
export function refundableOf(
  { store }: DashboardServices,
  account_id: string,
  request_id: string,
): Promise<RefundableCharge> {
  const charge = { request_id, account_id };
  return asNotFound(store, charge, () => store.refundable(charge));
}

/** Turns `NoCharge` into a 404, which names the charge of a video that the request fetched. */
async function asNotFound<T>(
  store: DashboardServices['store'],
  charge: { request_id: string; account_id: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NoCharge)) throw error;
    const task = await chargedTaskOf(store, charge);
    const there = `that of its submission, ${task?.id}: refund that`;
    const message = task ? `The request fetched a video whose charge is ${there}.` : NO_CHARGE;
    throw new GatewayError('not_found', message, { cause: error });
  }
}
