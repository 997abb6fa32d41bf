import type { Actor } from '../../core/actor.js';
import { isScope, type Scope } from '../../core/scopes.js';
import type { TokenCreation } from '../../schema-types/token-creation.js';
import type { ManagementToken } from '../../store/tokens/management-tokens.js';
import type { DashboardServices } from '../types.js';
import { asInvalid } from './accounts.js';
import { invalid, readName } from './checks.js';

/**
 * Makes a management token. Throws `GatewayError` (400, naming the field) for an invalid name, an
 * unknown scope, or no scope at all. Throws `IdTaken` if there is a token of that `id` already.
 */
export async function makeToken(
  { store, now }: DashboardServices,
  { name: typed, scopes: scope_names, expires_in_s }: TokenCreation,
  by: Actor,
  id?: string,
): Promise<{ token: ManagementToken; secret: string }> {
  const name = readName(typed);
  const scopes = scope_names.map(scopeNamed);
  if (scopes.length === 0) throw invalid('scopes', 'Choose at least one scope.');
  const expires = expires_in_s === undefined ? {} : { expires_ms: now() + expires_in_s * 1_000 };
  const token = { name, scopes, ...expires, ...(id !== undefined && { id }) };
  return asInvalid('name', () => store.tokens.create(token, by));
}

function scopeNamed(word: string): Scope {
  if (isScope(word)) return word;
  throw invalid('scopes', `There is no scope "${word}".`);
}
