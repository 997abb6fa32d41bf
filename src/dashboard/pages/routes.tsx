import type { DashboardServices, Route } from '../types.js';

/** The pages and what they are made of. */
export function pageRoutes(_services: DashboardServices): Route[] {
  return [];
}
