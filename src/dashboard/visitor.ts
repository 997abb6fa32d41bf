import type { PeopleStore } from '../store/people-types.js';
import type { DashboardContext, DashboardServices, Visitor } from './types.js';

const HOUR_MS = 3_600_000;
const LIMITS = { idle_ms: 12 * HOUR_MS, lifetime_ms: 720 * HOUR_MS };

/** Who asks, by the cookie `session`. */
export async function visitorOf(
  ctx: DashboardContext,
  { store }: DashboardServices,
): Promise<Visitor | undefined> {
  const secret = ctx.cookies.get('session');
  if (secret === undefined || !/^[\w-]{43}$/u.test(secret)) return undefined;
  const { people } = store as { people?: PeopleStore };
  const session = await people?.session(secret, LIMITS);
  return session && { session, operator: session.operator };
}
