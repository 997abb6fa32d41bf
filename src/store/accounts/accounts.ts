import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import type { Rates } from '../../core/limits.js';
import { formatDollars } from '../../lib/money.js';
import { changedValues, writeAudit } from '../audit/audit-log.js';
import type { Database } from '../database.js';
import { writeAllowances, type AllowanceChange } from '../limits/allowances.js';
import { changedRates, ratesIn, toRatesColumn, type RatesChange } from '../limits/rate-terms.js';
import { enterCredit } from '../ledger/ledger.js';
import { checkName, fitsColumn, isPossible, numberOrNull, toBinding } from '../column-values.js';
import { randomText } from '../keys/secret.js';
import { noAccount, StoreError } from '../store-error.js';

/** An account. `balance_nano` includes `held_nano`, which the holds of running calls set aside. */
export interface Account {
  id: string;
  name: string;
  balance_nano: bigint;
  held_nano: bigint;
  created_ms: number;
  /** Since when its keys are refused; null for an account that is not suspended. */
  suspended_ms: number | null;
  rates: Rates | null;
}

/** A change of the limits of an account: null takes one away, and what is absent stays. */
export interface AccountChange {
  rates?: RatesChange;
  allowances?: AllowanceChange;
}

export interface AccountRow {
  id: string;
  name: string;
  balance_nano: bigint;
  held_nano: bigint;
  created_ms: bigint;
  suspended_ms: bigint | null;
  /** JSON. */
  rates: string | null;
}

const PREFIX = 'acc_';

/** A credit above zero is written into the ledger with the account, as `opening credit`. */
export async function createAccount(
  database: Database,
  now_ms: number,
  name: string,
  credit_nano: bigint,
  by?: Actor,
): Promise<Account> {
  checkAccountName(name);
  if (credit_nano < 0n) throw new StoreError('An account cannot open with less than zero.');
  if (!fitsColumn(credit_nano)) throw new StoreError('The credit is more than a balance can hold.');
  return database.write(async (trx) => {
    const opening = { credit_nano, reference: 'opening credit' };
    const made = await insertAccount(trx, now_ms, name, opening, by);
    if (!made) throw new StoreError(`There is an account named "${name}" already.`);
    return made;
  });
}

/** Undefined where the name is taken. A credit above zero is entered under the reference. */
export async function insertAccount(
  trx: Knex.Transaction,
  now_ms: number,
  name: string,
  { credit_nano, reference }: { credit_nano: bigint; reference: string },
  by?: Actor,
): Promise<Account | undefined> {
  const id = PREFIX + randomText(16);
  const made = {
    id,
    name,
    balance_nano: credit_nano,
    held_nano: 0n,
    created_ms: now_ms,
    suspended_ms: null,
    rates: null,
  };
  const rows: unknown[] = await trx('accounts')
    .insert({ ...made, balance_nano: toBinding(credit_nano), held_nano: 0 })
    .onConflict('name')
    .ignore()
    .returning('id');
  if (rows.length === 0) return undefined;
  if (credit_nano > 0n) await enterCredit(trx, now_ms, id, credit_nano, reference);
  await writeAudit(trx, now_ms, by, {
    action: 'account.create',
    subject: id,
    account_id: id,
    before: null,
    after: { name, balance: formatDollars(credit_nano) },
  });
  return made;
}

/** The account, locked as each hold locks it. Throws `StoreError` for an unknown one. */
export async function lockAccount(trx: Knex.Transaction, account_id: string): Promise<Account> {
  const row: AccountRow | undefined = await trx('accounts')
    .where({ id: account_id })
    .forUpdate()
    .first();
  if (!row) throw noAccount(account_id);
  return toAccount(row);
}

/** See `Store.editAccount`. */
export async function editAccount(
  database: Database,
  now_ms: number,
  account_id: string,
  change: AccountChange,
  by?: Actor,
): Promise<Account> {
  return database.write(async (trx) => {
    // Calls lock allowances before their account.
    const owner = { owner_kind: 'account', owner_id: account_id } as const;
    const allowed = await writeAllowances(trx, owner, change.allowances ?? {}, now_ms);
    const before = await lockAccount(trx, account_id);
    const rates = changedRates(before.rates, change.rates);
    const changed = changedValues({ rates: before.rates }, { rates });
    if (!changed && !allowed) return before;
    await trx('accounts')
      .where({ id: account_id })
      .update({ rates: toRatesColumn(rates) });
    await writeAudit(trx, now_ms, by, {
      action: 'account.edit',
      subject: account_id,
      account_id,
      before: { ...changed?.before, ...allowed?.before },
      after: { ...changed?.after, ...allowed?.after },
    });
    return { ...before, rates };
  });
}

/** All accounts, oldest first, or a page of them by name. */
export async function accounts(
  database: Database,
  page?: { after?: string; limit: number },
): Promise<Account[]> {
  const rows = await database.read<AccountRow[]>((knex) => {
    if (!page) return knex('accounts').orderBy(['created_ms', 'name']);
    const query = knex('accounts').orderBy('name').limit(page.limit);
    return page.after === undefined ? query : query.where('name', '>', page.after);
  });
  return rows.map(toAccount);
}

/** The account of that ID or name; undefined if there is none. */
export async function account(
  database: Database,
  id_or_name: string,
): Promise<Account | undefined> {
  if (!isPossible(id_or_name)) return undefined;
  const row = await database.read<AccountRow | undefined>((knex) =>
    knex('accounts').where({ id: id_or_name }).orWhere({ name: id_or_name }).first(),
  );
  return row && toAccount(row);
}

/** A name that looked like an ID could be mistaken for another account's. No ID has an `@`. */
function checkAccountName(name: string): void {
  checkName('An account', name);
  if (name.startsWith(PREFIX) && !name.includes('@')) {
    throw new StoreError(`The name of an account cannot begin with "${PREFIX}".`);
  }
}

export function toAccount(row: AccountRow): Account {
  const { id, name, balance_nano, held_nano, created_ms, suspended_ms, rates } = row;
  return {
    id,
    name,
    balance_nano,
    held_nano,
    created_ms: Number(created_ms),
    suspended_ms: numberOrNull(suspended_ms),
    rates: ratesIn(rates),
  };
}
