import type { Actor } from '../../core/actor.js';
import { parseDollars } from '../../lib/money.js';
import { GatewayError } from '../../core/errors.js';
import type { KeyCreation } from '../../schema-types/key-creation.js';
import type { DashboardServices } from '../types.js';
import { startOf } from './days.js';
import { AccountSuspended, TooManyKeys } from '../../store/store-error.js';
import type { Key, KeyTerms } from '../../store/keys/keys.js';
import { invalid, readName } from './checks.js';

const SHOWN_REVOKED = 100;

/**
 * Makes a key, for the API and for the form. Throws `GatewayError`: 400, naming the field, for an
 * invalid name, time, model or amount, and if the account has too many keys; 403 if the account is
 * suspended. Throws `IdTaken` if there is a key of that `id` already.
 */
export async function makeKey(
  { store, configuration, now }: DashboardServices,
  account_id: string,
  creation: KeyCreation,
  by: Actor,
  id?: string,
): Promise<{ key: Key; secret: string }> {
  const name = readName(creation.name);
  const max_active = configuration.limits.keys;
  const terms: KeyTerms = Object.assign(termsOf(creation, configuration, now()), { max_active });
  if (id !== undefined) terms.id = id;
  try {
    return await store.createKey(account_id, name, terms, by);
  } catch (error) {
    if (error instanceof AccountSuspended) {
      throw new GatewayError('account_suspended', error.message, { cause: error });
    }
    if (!(error instanceof TooManyKeys)) throw error;
    const message = `An account has at most ${max_active} active keys: revoke one first.`;
    throw new GatewayError('invalid_request', message, { cause: error });
  }
}

/** Newest first: all active keys, and the last 100 revoked ones. */
export function shownKeys(keys: readonly Key[]): Key[] {
  const revoked = keys.filter(({ revoked_ms }) => revoked_ms !== null);
  const shown = new Set(
    revoked.toSorted((a, b) => Number(b.revoked_ms) - Number(a.revoked_ms)).slice(0, SHOWN_REVOKED),
  );
  return keys.filter((key) => key.revoked_ms === null || shown.has(key)).toReversed();
}

/** Whether a key or a token is neither revoked nor expired. */
export function isActive(
  { revoked_ms, expires_ms }: Pick<Key, 'revoked_ms' | 'expires_ms'>,
  now_ms: number,
): boolean {
  return revoked_ms === null && (expires_ms === null || expires_ms > now_ms);
}

function termsOf(
  creation: KeyCreation,
  { models }: DashboardServices['configuration'],
  now_ms: number,
): KeyTerms {
  const terms: KeyTerms = {};
  const expires_ms = expiryOf(creation, now_ms);
  if (expires_ms !== undefined) terms.expires_ms = expires_ms;
  if (creation.models) {
    creation.models.forEach((id, at) => {
      if (models.has(id)) return;
      const param = `models[${at}]`;
      throw new GatewayError('model_not_found', `${param} is not a model of this gateway.`, {
        param,
      });
    });
    terms.models = creation.models;
  }
  if (creation.limit !== undefined) {
    terms.limit_nano = parseDollars(creation.limit);
    if (terms.limit_nano <= 0n) throw invalid('limit', 'limit must be above zero.');
  }
  return terms;
}

function expiryOf({ expires, expires_in_s }: KeyCreation, now_ms: number): number | undefined {
  if (expires_in_s !== undefined) {
    if (expires === undefined) return now_ms + expires_in_s * 1_000;
    throw invalid('expires', 'Send either expires or expires_in_s, not both.');
  }
  if (expires === undefined) return undefined;
  const expires_ms = Date.parse(expires);
  if (Number.isNaN(expires_ms) || startOf(expires.slice(0, 10)) === undefined) {
    throw invalid('expires', 'expires must be a time such as 2026-12-31T23:59:59Z.');
  }
  if (expires_ms <= now_ms) throw invalid('expires', 'expires must be later than now.');
  return expires_ms;
}
