import type { Knex } from 'knex';
import { writeAudit } from '../audit/audit-log.js';
import { noAccount } from '../store-error.js';
import type { LinkOptions, PendingSignIn } from './sign-in-types.js';
import { makeOneTimeToken, sha256 } from '../keys/secret.js';

/** The most sign-ins in flight. A further one removes the oldest. */
const MAX_PENDING = 10_000;

/** Makes a link and its audit row. Throws `StoreError` for an unknown account. */
export async function createLink(
  trx: Knex.Transaction,
  now_ms: number,
  account_id: string,
  { operator, lifetime_ms, by }: LinkOptions,
): Promise<{ secret: string; due_ms: number }> {
  const owner: unknown = await trx('accounts').where({ id: account_id }).first('id');
  if (!owner) throw noAccount(account_id);
  const { secret, secret_sha256 } = makeOneTimeToken();
  const due_ms = now_ms + lifetime_ms;
  await trx('sign_in_links').insert({ secret_sha256, account_id, operator, due_ms });
  await writeAudit(trx, now_ms, by, {
    action: 'sign_in_link.create',
    subject: account_id,
    account_id,
    before: null,
    after: { operator, expires: new Date(due_ms).toISOString() },
  });
  return { secret, due_ms };
}

/** Uses up a sign-in link. Returns its account; undefined if it is unknown, used or expired. */
export async function useLink(
  trx: Knex.Transaction,
  now_ms: number,
  secret: string,
): Promise<{ account_id: string; operator: boolean } | undefined> {
  interface Row {
    account_id: string;
    operator: bigint | boolean;
  }
  const row = await take<Row>(trx, 'sign_in_links', now_ms, secret);
  return row && { account_id: row.account_id, operator: Boolean(row.operator) };
}

/** Stores a sign-in that is sent to its provider. Resolves with the secret that ends it. */
export async function beginSignIn(
  trx: Knex.Transaction,
  now_ms: number,
  { provider, return_to }: PendingSignIn,
  lifetime_ms: number,
): Promise<string> {
  const { secret, secret_sha256 } = makeOneTimeToken();
  const oldest = trx('pending_sign_ins')
    .orderBy('due_ms', 'desc')
    .offset(MAX_PENDING - 1)
    .select('secret_sha256');
  await trx('pending_sign_ins').whereIn('secret_sha256', oldest).delete();
  const due_ms = now_ms + lifetime_ms;
  await trx('pending_sign_ins').insert({ secret_sha256, provider, return_to, due_ms });
  return secret;
}

/** Uses up a sign-in by its secret; undefined if it is unknown, used or expired. */
export async function finishSignIn(
  trx: Knex.Transaction,
  now_ms: number,
  secret: string,
): Promise<PendingSignIn | undefined> {
  const row = await take<PendingSignIn>(trx, 'pending_sign_ins', now_ms, secret);
  return row && { provider: row.provider, return_to: row.return_to };
}

export async function sweepOneTimeTokens(trx: Knex.Transaction, now_ms: number): Promise<void> {
  await trx('sign_in_links').where('due_ms', '<=', now_ms).delete();
  await trx('pending_sign_ins').where('due_ms', '<=', now_ms).delete();
}

/** Takes a token once: of concurrent calls, the one whose delete removed the row gets it. */
async function take<Row extends object>(
  trx: Knex.Transaction,
  table: 'sign_in_links' | 'pending_sign_ins',
  now_ms: number,
  secret: string,
): Promise<Row | undefined> {
  const secret_sha256 = sha256(secret);
  const row: Row | undefined = await trx(table).where({ secret_sha256 }).first();
  const taken = await trx(table).where({ secret_sha256 }).where('due_ms', '>', now_ms).delete();
  return taken > 0 ? row : undefined;
}
