import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import { isScope, type Scope } from '../../core/scopes.js';
import { writeAudit } from '../audit/audit-log.js';
import { checkName, numberOrNull } from '../column-values.js';
import type { Database } from '../database.js';
import { makeSecret, PREFIX_LENGTH, randomText, sha256, TOKEN_PREFIX } from '../keys/secret.js';
import { IdTaken, StoreError } from '../store-error.js';

/** A management token, by which a program acts as an operator within its scopes. */
export interface ManagementToken {
  id: string;
  name: string;
  /** The first characters of the secret, enough to recognise it by. */
  prefix: string;
  scopes: readonly Scope[];
  created_ms: number;
  last_used_ms: number | null;
  expires_ms: number | null;
  revoked_ms: number | null;
}

export interface NewToken {
  name: string;
  scopes: readonly Scope[];
  /** The time from which the token is refused; without it, the token does not expire. */
  expires_ms?: number;
  /** The ID of the token, in place of a random one. Throws `IdTaken` if it is taken. */
  id?: string;
}

/** The management tokens. A secret is stored only as SHA-256. */
export interface TokenStore {
  /** The secret is in the result and stored nowhere. Throws `StoreError` for invalid terms. */
  create(token: NewToken, by?: Actor): Promise<{ token: ManagementToken; secret: string }>;
  /** All tokens, also revoked ones, oldest first. */
  list(): Promise<ManagementToken[]>;
  /** A token is refused once this resolves. False if it is unknown or revoked already. */
  revoke(token_id: string, by?: Actor): Promise<boolean>;
  /** Finds an active token by its secret, and notes its use once a minute at most. */
  find(secret: string): Promise<ManagementToken | undefined>;
  /** Whether there is such a token, also a revoked one. */
  isToken(secret: string): Promise<boolean>;
}

interface TokenRow {
  id: string;
  name: string;
  prefix: string;
  scopes: string;
  created_ms: bigint;
  last_used_ms: bigint | null;
  expires_ms: bigint | null;
  revoked_ms: bigint | null;
}

/** How often the use of a token is noted at most. */
const NOTE_EVERY_MS = 60_000;
const TABLE = 'management_tokens';
const COLUMNS = [
  'id',
  'name',
  'prefix',
  'scopes',
  'created_ms',
  'last_used_ms',
  'expires_ms',
  'revoked_ms',
];

export function openTokens(database: Database, now: () => number): TokenStore {
  return {
    create: (token, by) => create(database, now(), token, by),
    list: async () => {
      const rows = await database.read<TokenRow[]>((knex) =>
        knex(TABLE)
          .orderBy(['created_ms', 'id'])
          .select(...COLUMNS),
      );
      return rows.map(toToken);
    },
    revoke: (token_id, by) => database.write((trx) => revoke(trx, now(), token_id, by)),
    find: (secret) => find(database, now(), secret),
    isToken: async (secret) => {
      const row = await database.read<object | undefined>((knex) =>
        knex(TABLE)
          .where({ secret_sha256: sha256(secret) })
          .first('id'),
      );
      return row !== undefined;
    },
  };
}

async function create(
  database: Database,
  now_ms: number,
  { name, scopes, expires_ms, id = 'mgt_' + randomText(16) }: NewToken,
  by?: Actor,
): Promise<{ token: ManagementToken; secret: string }> {
  checkName('A token', name);
  if (scopes.length === 0) throw new StoreError('A token needs at least one scope.');
  if (expires_ms !== undefined && expires_ms <= now_ms) {
    throw new StoreError('A token must expire later than now.');
  }
  const secret = makeSecret(TOKEN_PREFIX);
  const row = {
    id,
    name,
    prefix: secret.slice(0, PREFIX_LENGTH),
    scopes: JSON.stringify([...new Set(scopes)].toSorted()),
    created_ms: BigInt(now_ms),
    last_used_ms: null,
    expires_ms: expires_ms === undefined ? null : BigInt(expires_ms),
    revoked_ms: null,
  };
  const token = toToken(row);
  await database.write(async (trx) => {
    const times = { created_ms: now_ms, expires_ms: token.expires_ms };
    const whole = { ...row, ...times, secret_sha256: sha256(secret) };
    const made = await trx(TABLE).insert(whole).onConflict('id').ignore().returning('id');
    if (made.length === 0) throw new IdTaken(id);
    const expires = expires_ms !== undefined && { expires: new Date(expires_ms).toISOString() };
    const after = { name, scopes: token.scopes, ...expires };
    const change = { subject: token.id, account_id: null, before: null, after };
    await writeAudit(trx, now_ms, by, { action: 'token.create', ...change });
  });
  return { token, secret };
}

async function revoke(
  trx: Knex.Transaction,
  now_ms: number,
  id: string,
  by?: Actor,
): Promise<boolean> {
  const active = trx(TABLE).where({ id }).whereNull('revoked_ms');
  if ((await active.update({ revoked_ms: now_ms })) === 0) return false;
  const row: Pick<TokenRow, 'name'> | undefined = await trx(TABLE).where({ id }).first('name');
  await writeAudit(trx, now_ms, by, {
    action: 'token.revoke',
    subject: id,
    account_id: null,
    before: { name: row?.name },
    after: { revoked: true },
  });
  return true;
}

async function find(
  database: Database,
  now_ms: number,
  secret: string,
): Promise<ManagementToken | undefined> {
  const secret_sha256 = sha256(secret);
  const row = await database.read<TokenRow | undefined>((knex) =>
    knex(TABLE)
      .where({ secret_sha256 })
      .whereNull('revoked_ms')
      .first(...COLUMNS),
  );
  const token = row && toToken(row);
  if (!token || (token.expires_ms !== null && token.expires_ms <= now_ms)) return undefined;
  if (token.last_used_ms === null || now_ms - token.last_used_ms > NOTE_EVERY_MS) {
    await database.read((knex) =>
      knex(TABLE).where({ id: token.id }).update({ last_used_ms: now_ms }),
    );
  }
  return token;
}

/** Leaves out scopes that only another version knows. */
function toToken(row: TokenRow): ManagementToken {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: (JSON.parse(row.scopes) as string[]).filter(isScope),
    created_ms: Number(row.created_ms),
    last_used_ms: numberOrNull(row.last_used_ms),
    expires_ms: numberOrNull(row.expires_ms),
    revoked_ms: numberOrNull(row.revoked_ms),
  };
}
