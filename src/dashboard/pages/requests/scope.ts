import type { RequestRecord } from '../../../core/request-record.js';
import type { Visitor } from '../../types.js';
import type { RequestQuery } from '../../views/request-query.js';
import { requireSession } from '../guard.js';

/** Whose requests a page shows: the visitor's own account's, or everybody's. */
export interface Scope {
  /** The path of the list; that of a request is below it. */
  path: '/requests' | '/operator/requests';
  title: string;
  access: 'session' | 'operator';
  /** Only operators see providers and upstreams. */
  is_operator: boolean;
}

export const SCOPES: readonly Scope[] = [
  { path: '/requests', title: 'Requests', access: 'session', is_operator: false },
  { path: '/operator/requests', title: 'All requests', access: 'operator', is_operator: true },
];

/** The query within the scope: a visitor sees the own account only. */
export function within(
  scope: Scope,
  visitor: Visitor | undefined,
  query: RequestQuery,
): RequestQuery {
  if (scope.is_operator) return query;
  return { ...query, account: requireSession(visitor).session.account_id };
}

/** Whether the visitor may see the request in this scope. */
export function isVisible(
  scope: Scope,
  visitor: Visitor | undefined,
  { account_id }: Pick<RequestRecord, 'account_id'>,
): boolean {
  return scope.is_operator || requireSession(visitor).session.account_id === account_id;
}

/** The path of a request's own page. */
export function requestPath({ path }: Pick<Scope, 'path'>, id: string): string {
  return `${path}/${encodeURIComponent(id)}`;
}
