import type { Actor } from '../../core/actor.js';
import { parseDollars } from '../../lib/money.js';
import { GatewayError } from '../../core/errors.js';
import type { AccountCreation } from '../../schema-types/account-creation.js';
import type { AccountCredit } from '../../schema-types/account-credit.js';
import type { DashboardServices } from '../types.js';
import { IdTaken, NoCharge, StoreError } from '../../store/store-error.js';
import type { Account } from '../../store/accounts/accounts.js';
import type { LedgerEntry } from '../../store/ledger/ledger-columns.js';
import { invalid, readName } from './checks.js';

/**
 * Makes an account, for the API and for the form. Throws `GatewayError` (400, naming the field) for
 * a name that is taken or invalid.
 */
export async function makeAccount(
  { store }: DashboardServices,
  creation: AccountCreation,
  by: Actor,
): Promise<Account> {
  const name = readName(creation.name);
  const credit_nano = parseDollars(creation.credit ?? '0');
  return asInvalid('name', () => store.createAccount(name, credit_nano, by));
}

/**
 * Credits an account, for the API and for the form. The same reference a second time changes
 * nothing. Throws `GatewayError`: 404 for an unknown account, 400 for an invalid amount.
 */
export async function creditAccount(
  { store }: DashboardServices,
  account_id: string,
  credit: AccountCredit,
  by: Actor,
): Promise<{ entry: LedgerEntry; account: Account }> {
  await accountOf(store, account_id);
  const amount_nano = parseDollars(credit.amount);
  const reference = credit.reference.trim();
  if (reference === '') throw invalid('reference', 'reference must not be empty.');
  const entry = await asInvalid('amount', () =>
    store.credit(account_id, amount_nano, reference, by),
  );
  return { entry, account: await accountOf(store, account_id) };
}

/** Finds an account by its ID only. Throws `GatewayError` (404) for an unknown one. */
export async function accountOf(store: DashboardServices['store'], id: string): Promise<Account> {
  const account = /^[\w-]{1,100}$/u.test(id) ? await store.account(id) : undefined;
  if (account?.id === id) return account;
  throw new GatewayError('not_found', 'There is no such account.');
}

/**
 * Turns an error of the store, whose message is written for people, into a 400 of the field. Throws
 * `NoCharge` and `IdTaken` as they are, as they concern no field.
 */
export async function asInvalid<T>(param: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfField =
      error instanceof StoreError && !(error instanceof NoCharge || error instanceof IdTaken);
    if (!isOfField) throw error;
    throw invalid(param, error.message);
  }
}
