import type { DashboardServices, Route } from '../types.js';

/** What signs people in and out. */
export function signInRoutes(_services: DashboardServices): Route[] {
  return [];
}
