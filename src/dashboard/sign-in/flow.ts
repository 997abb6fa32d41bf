import { enforceRate } from '../../http/rate-limit.js';
import { addressReader } from '../../http/client-address.js';
import { sessionSecret, setCookie } from '../cookies.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import type { NewSession } from '../../store/sign-in/sign-in-types.js';

/** The steps that all ways of signing in share. One for each configuration. */
export interface Flow {
  services: DashboardServices;
  https: boolean;
  /** Counts an attempt. Throws `rate_limited` if an address makes too many. */
  count(req: DashboardContext['req']): Promise<void>;
}

export function createFlow(services: DashboardServices): Flow {
  const { public_url, trusted_proxies, limits } = services.configuration;
  const addressOf = addressReader(trusted_proxies);
  const { sign_ins } = services.rate_limiters;
  return {
    services,
    https: public_url.startsWith('https:'),
    count: (req) => enforceRate(sign_ins, addressOf(req), limits.sign_ins, 'sign-ins'),
  };
}

/** Starts a session, and ends the one that this browser had. */
export async function startSession(
  { services, https }: Flow,
  ctx: DashboardContext,
  session: NewSession,
): Promise<void> {
  const { store, configuration } = services;
  const value = await store.sign_in.createSession(session, sessionSecret(ctx));
  const { lifetime_ms } = configuration.sign_in.session;
  setCookie(ctx, https, { name: 'session', value, path: '/', lifetime_ms });
}
