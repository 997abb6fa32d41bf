import type { Actor } from '../../core/actor.js';
import { GatewayError } from '../../core/errors.js';
import { isScope, type Scope } from '../../core/scopes.js';
import type { TokenCreation } from '../../schema-types/token-creation.js';
import type { ManagementToken } from '../../store/tokens/management-tokens.js';
import type { DashboardServices } from '../types.js';
import { refusing } from './accounts.js';

const NAME_CHARACTERS = 100;

/**
 * Makes a management token. Throws `GatewayError` (400, naming the field) for an invalid name, and
 * for scopes that are none or are not known.
 */
export async function makeToken(
  { store, now }: DashboardServices,
  { name: typed, scopes: words, expires_in_s }: TokenCreation,
  by: Actor,
): Promise<{ token: ManagementToken; secret: string }> {
  const name = typed.trim();
  if (name === '') throw invalid('name', 'name must not be empty.');
  if (Array.from(name).length > NAME_CHARACTERS) {
    throw invalid('name', `name must have at most ${NAME_CHARACTERS} characters.`);
  }
  const scopes = words.map(scopeCalled);
  if (scopes.length === 0) throw invalid('scopes', 'Choose at least one scope.');
  const expires = expires_in_s === undefined ? {} : { expires_ms: now() + expires_in_s * 1_000 };
  return refusing('name', () => store.tokens.create({ name, scopes, ...expires }, by));
}

function scopeCalled(word: string): Scope {
  if (isScope(word)) return word;
  throw invalid('scopes', `There is no scope "${word}".`);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
