import type { Actor } from '../../core/actor.js';
import { isScope, type Scope } from '../../core/scopes.js';
import type { TokenCreation } from '../../schema-types/token-creation.js';
import type { ManagementToken } from '../../store/tokens/management-tokens.js';
import type { DashboardServices } from '../types.js';
import { asInvalid } from './accounts.js';
import { invalid, readName } from './checks.js';

/**
 * Makes a management token. Throws `GatewayError` (400, naming the field) for an invalid name, an
 * unknown scope, or no scope at all.
 */
export async function makeToken(
  { store, now }: DashboardServices,
  { name: typed, scopes: scope_names, expires_in_s }: TokenCreation,
  by: Actor,
): Promise<{ token: ManagementToken; secret: string }> {
  const name = readName(typed);
  const scopes = scope_names.map(scopeNamed);
  if (scopes.length === 0) throw invalid('scopes', 'Choose at least one scope.');
  const expires = expires_in_s === undefined ? {} : { expires_ms: now() + expires_in_s * 1_000 };
  return asInvalid('name', () => store.tokens.create({ name, scopes, ...expires }, by));
}

function scopeNamed(word: string): Scope {
  if (isScope(word)) return word;
  throw invalid('scopes', `There is no scope "${word}".`);
}
