import type { DashboardServices, Route } from '../types.js';
import { accountRoutes } from './accounts.js';
import { keyRoutes } from './keys.js';
import { operationRoutes } from './operations.js';
import { ownRoutes } from './own.js';

/** The management API, its description and its reference page. */
export function apiRoutes(services: DashboardServices): Route[] {
  return [
    ...ownRoutes(services),
    ...keyRoutes(services),
    ...accountRoutes(services),
    ...operationRoutes(services),
  ];
}
