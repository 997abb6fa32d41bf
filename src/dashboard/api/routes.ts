import { openApi } from '../openapi/document.js';
import { documentRoutes } from '../openapi/routes.js';
import type { DashboardServices, Route } from '../types.js';
import { accountRoutes } from './accounts.js';
import { keyRoutes } from './keys.js';
import { operationRoutes } from './operations.js';
import { ownRoutes } from './own.js';
import type { ApiRoute } from './route.js';

/** The management API, its description and its reference page. */
export function apiRoutes(services: DashboardServices): Route[] {
  const described: ApiRoute[] = [
    ...ownRoutes(services),
    ...keyRoutes(services),
    ...accountRoutes(services),
    ...operationRoutes(services),
  ];
  return [...described, ...documentRoutes(openApi(services.configuration, described))];
}
