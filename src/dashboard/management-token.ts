import { GatewayError } from '../core/errors.js';
import type { Scope } from '../core/scopes.js';
import { addressReader } from '../http/client-address.js';
import { enforceRate } from '../http/rate-limit.js';
import type { ManagementToken } from '../store/tokens/management-tokens.js';
import type { DashboardContext, DashboardServices } from './types.js';

export type TokenReader = (ctx: DashboardContext) => Promise<ManagementToken | undefined>;

/**
 * Reads the management token of `Authorization: Bearer tgm_…`; answers undefined for a request
 * without one. Throws `GatewayError`: 401 for a token that is not valid, 429 for too many guesses.
 */
export function tokenReader({
  store,
  configuration: { limits, trusted_proxies },
  rate_limiters,
}: DashboardServices): TokenReader {
  const addressOf = addressReader(trusted_proxies);
  return async ({ req }) => {
    const secret = /^Bearer +(tgm_\S*) *$/iu.exec(req.headers.authorization ?? '')?.[1];
    if (secret === undefined) return undefined;
    const token = await store.tokens.find(secret);
    if (token) return token;
    // As for API keys: a program with a revoked token gets 401 however often it asks.
    if (!(await store.tokens.isToken(secret))) {
      const what = 'wrong management tokens';
      await enforceRate(rate_limiters.failed_keys, addressOf(req), limits.failed_keys, what);
    }
    throw new GatewayError('invalid_token', 'The management token is not valid.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  };
}

/** Throws `GatewayError` (403) for a token without the scope, or at a route that takes no token. */
export function refuseBeyondScope(token: ManagementToken, scope: Scope | undefined): void {
  if (scope === undefined) {
    const message =
      'A management token has no account of its own: use the routes under /api/accounts/{id}.';
    throw new GatewayError('forbidden', message);
  }
  if (token.scopes.includes(scope)) return;
  throw new GatewayError('forbidden', `The token "${token.name}" lacks the scope ${scope}.`);
}
