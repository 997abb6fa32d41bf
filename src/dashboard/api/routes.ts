import type { DashboardServices, Route } from '../types.js';

/** The management API, its description and its reference page. */
export function apiRoutes(_services: DashboardServices): Route[] {
  return [];
}
