import type { Actor } from '../../core/actor.js';
import type { Scope } from '../../core/scopes.js';
import type { ManagementToken } from '../../store/tokens/management-tokens.js';
import { actorOf } from '../actor.js';
import type { DashboardContext, Route, Visitor } from '../types.js';

/**
 * The description of a route in `/openapi.json`. Schemas are named as their files in `schemas/`.
 */
export interface About {
  /** The operation ID: a verb and a noun in one word. */
  id: string;
  summary: string;
  query?: string;
  body?: string;
  /** The status of success, and the name of the answer's schema in `management-answers`. */
  status: 200 | 201 | 204;
  answer?: string;
  /** The answer is also available as CSV. */
  csv?: boolean;
  /** The message of the 404 for a path whose parameter names nothing. */
  unknown?: string;
}

export type ApiRoute = Route & { about: About };

/** A route about the visitor's own account. Its visitor is signed in. */
export function ownRoute(
  route: Omit<ApiRoute, 'answer' | 'access' | 'scope'> & {
    answer(ctx: DashboardContext, visitor: Visitor): Promise<void> | void;
  },
): ApiRoute {
  return {
    ...route,
    access: 'session',
    answer: (ctx, visitor) => {
      if (!visitor) throw new Error(`Nobody is signed in at ${route.path}.`);
      return route.answer(ctx, visitor);
    },
  };
}

/** A route for operators, and for programs whose management token has the scope. */
export function operatorRoute(
  route: Omit<ApiRoute, 'answer' | 'access'> & {
    scope: Scope;
    answer(ctx: DashboardContext, by: Actor, token?: ManagementToken): Promise<void> | void;
  },
): ApiRoute {
  return {
    ...route,
    access: 'operator',
    answer: (ctx, visitor, token) => route.answer(ctx, actorOf(ctx, visitor, token), token),
  };
}
