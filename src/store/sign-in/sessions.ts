import type { Knex } from 'knex';
import type { Database } from '../database.js';
import { noAccount } from '../store-error.js';
import type { NewSession, Session } from './sign-in-types.js';
import { makeOneTimeToken, sha256 } from '../keys/secret.js';
import type { SessionLimits } from '../../core/configuration.js';

/** How often the use of a session is noted at most. */
const NOTE_EVERY_MS = 60_000;
/** The most sessions of one account. A further one ends the least recently used. */
const MAX_SESSIONS = 100;

interface SessionRow {
  account_id: string;
  account_name: string;
  email: string | null;
  via: string;
  operator: bigint | boolean;
  created_ms: bigint;
  seen_ms: bigint;
  suspended_ms: bigint | null;
}

/** Resolves with the secret. Throws `StoreError` for an unknown account. */
export async function createSession(
  trx: Knex.Transaction,
  now_ms: number,
  { account_id, email, via, operator }: NewSession,
  replaced_secret?: string,
): Promise<string> {
  const owner: unknown = await trx('accounts').where({ id: account_id }).first('id');
  if (!owner) throw noAccount(account_id);
  if (replaced_secret !== undefined) await deleteSessions(trx, [sha256(replaced_secret)]);
  const older: { secret_sha256: string }[] = await trx('sessions')
    .where({ account_id })
    .orderBy('seen_ms', 'desc')
    .offset(MAX_SESSIONS - 1)
    .select('secret_sha256');
  await deleteSessions(
    trx,
    older.map(({ secret_sha256 }) => secret_sha256),
  );
  const { secret, secret_sha256 } = makeOneTimeToken();
  const times = { created_ms: now_ms, seen_ms: now_ms };
  await trx('sessions').insert({ secret_sha256, account_id, email, via, operator, ...times });
  return secret;
}

async function deleteSessions(trx: Knex.Transaction, hashes: readonly string[]): Promise<void> {
  if (hashes.length > 0) await trx('sessions').whereIn('secret_sha256', hashes).delete();
}

/**
 * The session with this secret, if it has not ended. Notes from time to time that it was seen.
 */
export async function readSession(
  database: Database,
  now_ms: number,
  secret: string,
  limits: SessionLimits,
): Promise<Session | undefined> {
  const secret_sha256 = sha256(secret);
  const row = await database.read<SessionRow | undefined>((knex) =>
    knex('sessions')
      .join('accounts', 'accounts.id', 'sessions.account_id')
      .where({ secret_sha256 })
      .first('sessions.*', 'accounts.name as account_name', 'accounts.suspended_ms'),
  );
  const session = row && toSession(row);
  if (!session || isOver(session, now_ms, limits)) return undefined;
  if (now_ms - session.seen_ms > NOTE_EVERY_MS) {
    await database.read((knex) =>
      knex('sessions').where({ secret_sha256 }).update({ seen_ms: now_ms }),
    );
  }
  return session;
}

function isOver(
  { created_ms, seen_ms }: Session,
  now_ms: number,
  { idle_ms, lifetime_ms }: SessionLimits,
): boolean {
  return now_ms - created_ms >= lifetime_ms || now_ms - seen_ms >= idle_ms;
}

export async function sweepSessions(
  trx: Knex.Transaction,
  now_ms: number,
  { idle_ms, lifetime_ms }: SessionLimits,
): Promise<void> {
  await trx('sessions')
    .where('seen_ms', '<=', now_ms - idle_ms)
    .orWhere('created_ms', '<=', now_ms - lifetime_ms)
    .delete();
}

function toSession(row: SessionRow): Session {
  return {
    account_id: row.account_id,
    account_name: row.account_name,
    email: row.email,
    via: row.via,
    operator: Boolean(row.operator),
    suspended: row.suspended_ms !== null,
    created_ms: Number(row.created_ms),
    seen_ms: Number(row.seen_ms),
  };
}
