import { hash } from 'node:crypto';
import { accountSuspended, unauthorized } from '../core/errors.js';
import type { Caller } from '../core/model.js';
import { addressReader } from '../http/client-address.js';
import { enforceRate } from '../http/rate-limit.js';
import type { DashboardContext, DashboardServices } from './types.js';

export type KeyReader = (ctx: DashboardContext) => Promise<Caller | undefined>;

/**
 * Reads the API key of `Authorization: Bearer tg-…`; answers undefined for a request without one.
 * Throws `GatewayError`: 401 for a key that is not valid, 403 for one of a suspended account, 429
 * for too many guesses.
 */
export function keyReader({
  store,
  configuration: { limits, trusted_proxies },
  rate_limiters,
}: DashboardServices): KeyReader {
  const addressOf = addressReader(trusted_proxies);
  return async ({ req }) => {
    const secret = /^Bearer +(tg-\S*) *$/iu.exec(req.headers.authorization ?? '')?.[1];
    if (secret === undefined) return undefined;
    const secret_sha256 = hash('sha256', secret);
    const caller = await store.caller(secret_sha256);
    if (caller?.suspended) throw accountSuspended();
    if (caller) return caller;
    if (!(await store.isKey(secret_sha256))) {
      const what = 'wrong API keys';
      await enforceRate(rate_limiters.failed_keys, addressOf(req), limits.failed_keys, what);
    }
    throw unauthorized('The API key is not valid.');
  };
}
