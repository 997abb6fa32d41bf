import type { DashboardContext, Route, Visitor } from '../types.js';

/** What `/openapi.json` says of a route. Schemas are named as their files in `schemas/`. */
export interface About {
  /** A verb and a noun, in one word. */
  id: string;
  summary: string;
  query?: string;
  body?: string;
  /** The status of success and, by its name in `management-answers`, what then comes. */
  status: 200 | 201 | 204;
  answer?: string;
  /** The answer may be wanted as CSV too. */
  csv?: boolean;
  /** What a path is told that leads to nothing; where it names something. */
  unknown?: string;
}

export type ApiRoute = Route & { about: About };

/** A route of the management API, whose visitor is there. */
export function apiRoute(
  route: Omit<ApiRoute, 'answer'> & {
    answer(ctx: DashboardContext, visitor: Visitor): Promise<void> | void;
  },
): ApiRoute {
  return {
    ...route,
    answer: (ctx, visitor) => {
      if (!visitor) throw new Error(`Nobody is signed in at ${route.path}.`);
      return route.answer(ctx, visitor);
    },
  };
}
