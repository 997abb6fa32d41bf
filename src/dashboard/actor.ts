import type { Actor } from '../core/actor.js';
import type { ManagementToken } from '../store/tokens/management-tokens.js';
import type { DashboardContext, Visitor } from './types.js';

/** The actor of a change in the audit log: a program with a token, or a signed-in person. */
export function actorOf(
  { state: { request_id } }: DashboardContext,
  visitor: Visitor | undefined,
  token?: ManagementToken,
): Actor {
  if (token) return { kind: 'token', id: token.id, name: token.name, request_id };
  if (!visitor) throw new Error('The change has neither a token nor a visitor.');
  const { account_id, email, account_name } = visitor.session;
  return { kind: 'person', id: account_id, name: email ?? account_name, request_id };
}
