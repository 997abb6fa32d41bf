import type { Database } from './database.js';
import { noAccount } from './hot.js';
import { makeSecret, PREFIX_LENGTH, randomText, sha256 } from './secret.js';
import { StoreError, type Key } from './types.js';

type KeyRow = Omit<Key, 'created_ms' | 'last_used_ms' | 'revoked_ms'> & {
  created_ms: bigint;
  last_used_ms: bigint | null;
  revoked_ms: bigint | null;
};

const COLUMNS = [
  'id',
  'account_id',
  'name',
  'prefix',
  'created_ms',
  'last_used_ms',
  'revoked_ms',
] as const;

/** Throws `StoreError` for an unknown account or an empty name. */
export async function createKey(
  database: Database,
  now_ms: number,
  account_id: string,
  name: string,
): Promise<{ key: Key; secret: string }> {
  if (name.trim() === '') throw new StoreError('A key needs a name.');
  const secret = makeSecret();
  const key: Key = {
    id: 'key_' + randomText(16),
    account_id,
    name,
    prefix: secret.slice(0, PREFIX_LENGTH),
    created_ms: now_ms,
    last_used_ms: null,
    revoked_ms: null,
  };
  await database.write(async (trx) => {
    const owner: unknown = await trx('accounts').where({ id: account_id }).first('id');
    if (!owner) throw noAccount(account_id);
    await trx('keys').insert({ ...key, secret_sha256: sha256(secret) });
  });
  return { key, secret };
}

/** All keys of the account, the revoked ones too, oldest first. */
export async function keys(database: Database, account_id: string): Promise<Key[]> {
  const rows = await database.read<KeyRow[]>((knex) =>
    knex('keys')
      .where({ account_id })
      .orderBy(['created_ms', 'id'])
      .select(...COLUMNS),
  );
  return rows.map(toKey);
}

export async function revokeKey(
  database: Database,
  now_ms: number,
  key_id: string,
): Promise<boolean> {
  const revoked = await database.write((trx) =>
    trx('keys').where({ id: key_id, revoked_ms: null }).update({ revoked_ms: now_ms }),
  );
  return revoked > 0;
}

function toKey(row: KeyRow): Key {
  const { created_ms, last_used_ms, revoked_ms } = row;
  return {
    ...row,
    created_ms: Number(created_ms),
    last_used_ms: last_used_ms === null ? null : Number(last_used_ms),
    revoked_ms: revoked_ms === null ? null : Number(revoked_ms),
  };
}
