import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import type { Rates } from '../../core/limits.js';
import { formatDollars } from '../../lib/money.js';
import { writeAudit, type Values } from '../audit/audit-log.js';
import type { Database } from '../database.js';
import { AccountSuspended, IdTaken, noAccount, StoreError, TooManyKeys } from '../store-error.js';
import { writeAllowances, type AllowanceChange } from '../limits/allowances.js';
import { changedRates, ratesIn, toRatesColumn, type RatesChange } from '../limits/rate-terms.js';
import { makeSecret, PREFIX_LENGTH, randomText, sha256 } from './secret.js';
import { checkName, isPossible, MAX_NANO, toBinding, numberOrNull } from '../column-values.js';

/** An API key, without its secret. Times are Unix ms; null for what has not happened. */
export interface Key {
  id: string;
  account_id: string;
  name: string;
  /** The first characters of the secret, enough to recognise it by. */
  prefix: string;
  created_ms: number;
  last_used_ms: number | null;
  revoked_ms: number | null;
  /** The time from which the key is refused; null if it does not expire. */
  expires_ms: number | null;
  /** The only models that it may use; null for all. */
  models: string[] | null;
  /** The total that the key may spend; null for no limit of its own. */
  limit_nano: bigint | null;
  /** The total that it has spent; 0 for a key that never had a limit, which is not counted. */
  spent_nano: bigint;
  rates: Rates | null;
  /** Until when the secret before the last rotation works; null if it was never rotated. */
  previous_until_ms: number | null;
}

/**
 * The limits of a key, beside those of its account. On a change, null takes one away and a missing
 * one stays; on a new key, both set none.
 */
export interface KeyTerms {
  expires_ms?: number | null;
  models?: readonly string[] | null;
  limit_nano?: bigint | null;
  rates?: RatesChange;
  /** Throws `TooManyKeys` where the key would be active beside so many of its account. */
  max_active?: number;
}

export interface NewKeyTerms extends KeyTerms {
  allowances?: NonNullable<AllowanceChange['amounts']>;
  /** In place of a random one. Throws `IdTaken` if it is taken. */
  id?: string;
}

type Column<T> = T extends number ? bigint : T;
type Plain = 'id' | 'account_id' | 'name' | 'prefix' | 'limit_nano' | 'spent_nano';
type Times = 'created_ms' | 'last_used_ms' | 'revoked_ms' | 'expires_ms' | 'previous_until_ms';
type Json = 'models' | 'rates';

/** The models and the rates are JSON in their columns. */
export type KeyRow = Pick<Key, Plain> & { [T in Times]: Column<Key[T]> } & Record<
    Json,
    string | null
  >;

/** The limit, in its column, of a key that goes on counting after its limit was taken away. */
export const UNLIMITED_NANO = MAX_NANO;

const MAX_MODELS = 100;

export const KEY_COLUMNS = [
  'id',
  'account_id',
  'name',
  'prefix',
  'created_ms',
  'last_used_ms',
  'revoked_ms',
  'expires_ms',
  'models',
  'limit_nano',
  'spent_nano',
  'rates',
  'previous_until_ms',
] as const;

/** Whether there is such a key, also a revoked or expired one. */
export async function isKey(database: Database, secret_sha256: string): Promise<boolean> {
  const row = await database.read<object | undefined>((knex) =>
    knex('keys').where({ secret_sha256 }).orWhere({ previous_sha256: secret_sha256 }).first('id'),
  );
  return row !== undefined;
}

/**
 * See `Store.createKey`. Throws `StoreError` for an unknown account, an empty name, or terms that
 * allow nothing, and `AccountSuspended` if the account is suspended.
 */
export async function createKey(
  database: Database,
  now_ms: number,
  account_id: string,
  name: string,
  terms: NewKeyTerms = {},
  by?: Actor,
): Promise<{ key: Key; secret: string }> {
  checkName('A key', name);
  const { expires_ms = null, models, limit_nano = null, max_active } = terms;
  const { id = 'key_' + randomText(16) } = terms;
  checkTerms(terms, now_ms);
  const secret = makeSecret();
  const key: Key = {
    id,
    account_id,
    name,
    prefix: secret.slice(0, PREFIX_LENGTH),
    created_ms: now_ms,
    last_used_ms: null,
    revoked_ms: null,
    expires_ms,
    models: models ? [...new Set(models)] : null,
    limit_nano,
    spent_nano: 0n,
    rates: changedRates(null, terms.rates),
    previous_until_ms: null,
  };
  await database.write(async (trx) => {
    const owners = trx('accounts').where({ id: account_id });
    const isChecked = max_active !== undefined || terms.id !== undefined;
    // Lock the account: concurrent calls must not count the same keys, nor miss each other's.
    const owner: { suspended_ms: bigint | null } | undefined = await (
      isChecked ? owners.forUpdate() : owners
    ).first('suspended_ms');
    if (!owner) throw noAccount(account_id);
    if (owner.suspended_ms !== null) throw new AccountSuspended('key');
    if (terms.id !== undefined && (await trx('keys').where({ id }).first('id'))) {
      throw new IdTaken(id);
    }
    if (max_active !== undefined) await checkRoom(trx, account_id, max_active, now_ms);
    await trx('keys').insert({
      ...key,
      secret_sha256: sha256(secret),
      models: key.models && JSON.stringify(key.models),
      rates: toRatesColumn(key.rates),
      limit_nano: limit_nano && toBinding(limit_nano),
      spent_nano: 0,
    });
    const payer = { owner_kind: 'key', owner_id: id, limit_nano } as const;
    const allowed = await writeAllowances(trx, payer, { amounts: terms.allowances ?? {} }, now_ms);
    await auditKey(trx, now_ms, { ...termValues(key), ...allowed?.after }, key, by);
  });
  return { key, secret };
}

function auditKey(
  trx: Knex.Transaction,
  now_ms: number,
  terms: Values,
  { id, account_id }: Key,
  by?: Actor,
): Promise<void> {
  const set = Object.entries(terms).filter(([, value]) => value !== null);
  const after = Object.fromEntries(set);
  return writeAudit(trx, now_ms, by, {
    action: 'key.create',
    subject: id,
    account_id,
    before: null,
    after,
  });
}

/** The terms of a key as the audit log has them. */
export function termValues({ name, expires_ms, models, limit_nano, rates }: Key): Values {
  return {
    name,
    expires: expires_ms === null ? null : new Date(expires_ms).toISOString(),
    models,
    limit: limit_nano === null ? null : formatDollars(limit_nano),
    rates,
  };
}

/** Throws `TooManyKeys` if the account has that many active keys. Its row must be locked. */
export async function checkRoom(
  trx: Knex.Transaction,
  account_id: string,
  max_active: number,
  now_ms: number,
): Promise<void> {
  const active: unknown[] = await trx('keys')
    .where({ account_id, revoked_ms: null })
    .andWhere((not) => not.whereNull('expires_ms').orWhere('expires_ms', '>', now_ms))
    .limit(max_active)
    .select('id');
  if (active.length < max_active) return;
  throw new TooManyKeys(`The account has ${max_active} active keys, and may not have more.`);
}

/** Throws `StoreError` for terms that allow nothing. */
export function checkTerms(
  { expires_ms = null, models = null, limit_nano = null }: KeyTerms,
  now_ms: number,
): void {
  if (expires_ms !== null && !(expires_ms > now_ms && Number.isSafeInteger(expires_ms))) {
    throw new StoreError('A key must expire later than now.');
  }
  if (models && (models.length === 0 || models.length > MAX_MODELS)) {
    throw new StoreError(`A list of models for a key has 1 to ${MAX_MODELS} of them.`);
  }
  if (limit_nano !== null && !(limit_nano > 0n && limit_nano < UNLIMITED_NANO)) {
    throw new StoreError('The spending limit of a key must be above zero, and fit a balance.');
  }
}

/** All keys of the account, the revoked ones too, oldest first. */
export async function keys(database: Database, account_id: string): Promise<Key[]> {
  if (!isPossible(account_id)) return [];
  const rows = await database.read<KeyRow[]>((knex) =>
    knex('keys')
      .where({ account_id })
      .orderBy(['created_ms', 'id'])
      .select(...KEY_COLUMNS),
  );
  return rows.map(toKey);
}

/** The key with this ID, revoked or not, of any account. */
export async function key(database: Database, id: string): Promise<Key | undefined> {
  if (!isPossible(id)) return undefined;
  const row = await database.read<KeyRow | undefined>((knex) =>
    knex('keys')
      .where({ id })
      .first(...KEY_COLUMNS),
  );
  return row && toKey(row);
}

/** Revokes a key, of any account or of this one. Returns false if there was none to revoke. */
export async function revokeKey(
  database: Database,
  now_ms: number,
  key_id: string,
  account_id?: string,
  by?: Actor,
): Promise<boolean> {
  if (!isPossible(key_id)) return false;
  const which = account_id === undefined ? { id: key_id } : { id: key_id, account_id };
  return database.write(async (trx) => {
    const revoked = await trx('keys')
      .where(which)
      .whereNull('revoked_ms')
      .update({ revoked_ms: now_ms });
    if (revoked === 0) return false;
    const key: Pick<Key, 'account_id' | 'name'> | undefined = await trx('keys')
      .where(which)
      .first('account_id', 'name');
    await writeAudit(trx, now_ms, by, {
      action: 'key.revoke',
      subject: key_id,
      account_id: key?.account_id ?? null,
      before: { name: key?.name },
      after: { revoked: true },
    });
    return true;
  });
}

export function toKey(row: KeyRow): Key {
  return {
    ...row,
    created_ms: Number(row.created_ms),
    last_used_ms: numberOrNull(row.last_used_ms),
    revoked_ms: numberOrNull(row.revoked_ms),
    expires_ms: numberOrNull(row.expires_ms),
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    limit_nano: row.limit_nano === UNLIMITED_NANO ? null : row.limit_nano,
    rates: ratesIn(row.rates),
    previous_until_ms: numberOrNull(row.previous_until_ms),
  };
}
