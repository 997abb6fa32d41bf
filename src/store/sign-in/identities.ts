import type { Knex } from 'knex';
import { insertAccount, toAccount, type AccountRow, type Account } from '../accounts/accounts.js';
import type { Database } from '../database.js';
import type { Identity, SignInStore } from './sign-in-types.js';
import { createSession, readSession, sweepSessions } from './sessions.js';
import { sha256 } from '../keys/secret.js';
import {
  beginSignIn,
  createLink,
  finishSignIn,
  sweepOneTimeTokens,
  useLink,
} from './one-time-tokens.js';
import { StoreError } from '../store-error.js';

/** The reference of the credit of a new account: it is unique, so the credit is entered once. */
const REFERENCE = 'sign-in credit';

export function openSignInStore(database: Database, now: () => number): SignInStore {
  return {
    signIn: (identity, credit_nano) =>
      database.write((trx) => signIn(trx, now(), identity, credit_nano)),
    createSession: (session, replaced_secret) =>
      database.write((trx) => createSession(trx, now(), session, replaced_secret)),
    session: (secret, limits) => readSession(database, now(), secret, limits),
    endSession: async (secret) => {
      const secret_sha256 = sha256(secret);
      await database.write((trx) => trx('sessions').where({ secret_sha256 }).delete());
    },
    endSessions: (account_id) =>
      database.write((trx) => trx('sessions').where({ account_id }).delete()),
    createLink: (account_id, options) =>
      database.write((trx) => createLink(trx, now(), account_id, options)),
    useLink: (secret) => database.write((trx) => useLink(trx, now(), secret)),
    beginSignIn: (pending, lifetime_ms) =>
      database.write((trx) => beginSignIn(trx, now(), pending, lifetime_ms)),
    finishSignIn: (secret) => database.write((trx) => finishSignIn(trx, now(), secret)),
    sweep: (limits) =>
      database.write(async (trx) => {
        await sweepSessions(trx, now(), limits);
        await sweepOneTimeTokens(trx, now());
      }),
  };
}

async function signIn(
  trx: Knex.Transaction,
  now_ms: number,
  { provider, subject, email }: Identity,
  credit_nano: bigint,
): Promise<{ account: Account; newcomer: boolean }> {
  const known = await accountOf(trx, { provider, subject });
  if (known) {
    await trx('identities').where({ provider, subject }).update({ email });
    return { account: known, newcomer: false };
  }
  const made = await insertAccount(trx, now_ms, email, { credit_nano, reference: REFERENCE });
  const account = made ?? (await accountNamed(trx, email));
  const identity = { provider, subject, account_id: account.id, email, created_ms: now_ms };
  await trx('identities').insert(identity).onConflict(['provider', 'subject']).ignore();
  // Meanwhile another process may have inserted the identity, with another address.
  const settled = await accountOf(trx, { provider, subject });
  if (settled?.id !== account.id)
    throw new StoreError('The person is signing in twice at the same time.');
  return { account, newcomer: made !== undefined };
}

async function accountOf(
  trx: Knex.Transaction,
  identity: Pick<Identity, 'provider' | 'subject'>,
): Promise<Account | undefined> {
  const row: AccountRow | undefined = await trx('accounts')
    .join('identities', 'identities.account_id', 'accounts.id')
    .where(identity)
    .first('accounts.*');
  return row && toAccount(row);
}

async function accountNamed(trx: Knex.Transaction, name: string): Promise<Account> {
  const row: AccountRow | undefined = await trx('accounts').where({ name }).first();
  if (!row) throw new StoreError(`There is no account named "${name}".`);
  return toAccount(row);
}
