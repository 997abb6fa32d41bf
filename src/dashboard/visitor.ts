import { isAllowed } from '../config/allow-list.js';
import type { SignIn } from '../core/configuration.js';
import type { Session } from '../store/sign-in/sign-in-types.js';
import { sessionSecret } from './cookies.js';
import type { DashboardContext, DashboardServices, Visitor } from './types.js';

/**
 * The visitor whose session the cookie names. Undefined without a session, and for an e-mail
 * address that the current configuration no longer allows.
 */
export async function visitorOf(
  ctx: Pick<DashboardContext, 'cookies'>,
  { store, configuration: { sign_in } }: DashboardServices,
): Promise<Visitor | undefined> {
  const secret = sessionSecret(ctx);
  if (secret === undefined) return undefined;
  const session = await store.sign_in.session(secret, sign_in.session);
  if (!session || !isWelcome(session, sign_in)) return undefined;
  return { session, operator: isOperator(session, sign_in) };
}

function isWelcome({ via, email }: Session, { providers, allow }: SignIn): boolean {
  return email === null || (providers.has(via) && isAllowed(email, allow));
}

/** A session from a link stores this; for an e-mail address the current configuration decides. */
function isOperator({ email, operator }: Session, { operators }: SignIn): boolean {
  return email === null ? operator : operators.includes(email);
}
