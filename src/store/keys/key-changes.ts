import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import { changedValues, writeAudit } from '../audit/audit-log.js';
import { toBinding } from '../column-values.js';
import type { Database } from '../database.js';
import { writeAllowances, type AllowanceChange } from '../limits/allowances.js';
import { changedRates, toRatesColumn } from '../limits/rate-terms.js';
import { AccountSuspended, StoreError } from '../store-error.js';
import {
  checkRoom,
  checkTerms,
  KEY_COLUMNS,
  termValues,
  toKey,
  UNLIMITED_NANO,
  type Key,
  type KeyRow,
  type KeyTerms,
} from './keys.js';
import { makeSecret, PREFIX_LENGTH, sha256 } from './secret.js';
import { checkName, isPossible } from '../column-values.js';

/** A change of a key's terms. */
export interface KeyChange extends KeyTerms {
  allowances?: AllowanceChange;
  name?: string;
}

/** A new secret for a key. */
export interface Rotation {
  /** How long the old secret works beside it. */
  overlap_ms: number;
  /** How the old secret begins; with another one, the key was rotated before. */
  prefix?: string;
}

/** See `Store.editKey`. */
export async function editKey(
  database: Database,
  now_ms: number,
  key_id: string,
  change: KeyChange,
  by?: Actor,
): Promise<Key | undefined> {
  const { name, expires_ms, models, limit_nano, rates } = change;
  if (name !== undefined) checkName('A key', name);
  checkTerms(change, now_ms);
  return database.write(async (trx) => {
    const row = await lockKey(trx, key_id);
    if (!row) return undefined;
    const before = toKey(row);
    const after: Key = {
      ...before,
      ...(name !== undefined && { name }),
      ...(expires_ms !== undefined && { expires_ms }),
      ...(models !== undefined && { models: models && [...new Set(models)] }),
      ...(limit_nano !== undefined && { limit_nano }),
      rates: changedRates(before.rates, rates),
    };
    const owner = { owner_kind: 'key', owner_id: key_id, limit_nano: after.limit_nano } as const;
    // Also without a change of the allowances: a new limit must not be below one.
    const allowed = await writeAllowances(trx, owner, change.allowances ?? {}, now_ms);
    const changed = changedValues(termValues(before), termValues(after));
    if (!changed && !allowed) return before;
    await checkRevival(trx, before, change, now_ms);
    const counted = await countsFrom(trx, row, after);
    await trx('keys')
      .where({ id: key_id })
      .update({
        name: after.name,
        expires_ms: after.expires_ms,
        models: after.models && JSON.stringify(after.models),
        rates: toRatesColumn(after.rates),
        ...counted,
      });
    const { account_id } = before;
    await writeAudit(trx, now_ms, by, {
      action: 'key.edit',
      subject: key_id,
      account_id,
      before: { ...changed?.before, ...allowed?.before },
      after: { ...changed?.after, ...allowed?.after },
    });
    const edited: KeyRow | undefined = await trx('keys')
      .where({ id: key_id })
      .first(...KEY_COLUMNS);
    return edited && toKey(edited);
  });
}

/** See `Store.rotateKey`. */
export async function rotateKey(
  database: Database,
  now_ms: number,
  key_id: string,
  { overlap_ms, prefix: old_prefix }: Rotation,
  by?: Actor,
): Promise<{ key: Key; secret: string } | undefined> {
  if (!(Number.isSafeInteger(overlap_ms) && overlap_ms >= 0)) {
    throw new StoreError('The overlap of two secrets cannot be below zero.');
  }
  return database.write(async (trx) => {
    const row = await lockKey(trx, key_id);
    if (!row) return undefined;
    const { account_id, expires_ms, ...before } = toKey(row);
    if (old_prefix !== undefined && old_prefix !== before.prefix) {
      throw new StoreError(`The key was rotated before: its secret begins with ${before.prefix}.`);
    }
    if (expires_ms !== null && expires_ms <= now_ms) {
      throw new StoreError('The key has expired: it gets no new secret before a later expiry.');
    }
    const owner: { suspended_ms: bigint | null } | undefined = await trx('accounts')
      .where({ id: account_id })
      .first('suspended_ms');
    if (owner?.suspended_ms !== null) throw new AccountSuspended('secret');
    const secret = makeSecret();
    const previous_until_ms = now_ms + overlap_ms;
    const prefix = secret.slice(0, PREFIX_LENGTH);
    await trx('keys')
      .where({ id: key_id })
      .update({
        prefix,
        secret_sha256: sha256(secret),
        previous_sha256: trx.ref('secret_sha256'),
        previous_until_ms,
      });
    await writeAudit(trx, now_ms, by, {
      action: 'key.rotate',
      subject: key_id,
      account_id,
      before: { prefix: before.prefix },
      after: { prefix, previous_until: new Date(previous_until_ms).toISOString() },
    });
    return { key: { ...before, account_id, expires_ms, prefix, previous_until_ms }, secret };
  });
}

/** The key, locked as each hold locks it; undefined for an unknown or a revoked one. */
async function lockKey(trx: Knex.Transaction, key_id: string): Promise<KeyRow | undefined> {
  if (!isPossible(key_id)) return undefined;
  const row: KeyRow | undefined = await trx('keys')
    .where({ id: key_id })
    .whereNull('revoked_ms')
    .forUpdate()
    .first(...KEY_COLUMNS);
  return row;
}

/** Counts an expired key that a later expiry makes active again as a new one. */
async function checkRevival(
  trx: Knex.Transaction,
  { account_id, expires_ms }: Key,
  change: KeyChange,
  now_ms: number,
): Promise<void> {
  const isRevived = change.expires_ms !== undefined && expires_ms !== null && expires_ms <= now_ms;
  if (!isRevived || change.max_active === undefined) return;
  await trx('accounts').where({ id: account_id }).forUpdate().first('id');
  await checkRoom(trx, account_id, change.max_active, now_ms);
}

/**
 * The columns of the limit. A key counts from its first limit on, beginning with all that it has
 * spent, and goes on counting when the limit is taken away.
 */
async function countsFrom(
  trx: Knex.Transaction,
  { id, account_id, limit_nano }: KeyRow,
  after: Key,
): Promise<object> {
  if (limit_nano !== null) {
    return { limit_nano: toBinding(after.limit_nano ?? UNLIMITED_NANO) };
  }
  if (after.limit_nano === null) return {};
  const spent = trx('ledger').where({ account_id, key_id: id }).whereNot('kind', 'credit');
  const held = trx('tasks').where({ account_id, key_id: id });
  return {
    limit_nano: toBinding(after.limit_nano),
    spent_nano: spent.select(trx.raw('cast(coalesce(-sum(amount_nano), 0) as bigint)')),
    held_nano: held.select(trx.raw('cast(coalesce(sum(hold_nano), 0) as bigint)')),
  };
}
