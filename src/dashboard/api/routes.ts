import { openApi } from '../openapi/document.js';
import { documentRoutes } from '../openapi/routes.js';
import type { DashboardServices, Route } from '../types.js';
import { accountChangeRoutes } from './account-changes.js';
import { accountKeyRoutes } from './account-keys.js';
import { accountRoutes } from './accounts.js';
import { auditRoute } from './audit.js';
import { keyRoutes } from './keys.js';
import { operationRoutes } from './operations.js';
import { ownRoutes } from './own.js';
import { requestRoutes } from './requests.js';
import type { ApiRoute } from './route.js';

/** The management API, its description and its reference page. */
export function apiRoutes(services: DashboardServices): Route[] {
  const described: ApiRoute[] = [
    ...ownRoutes(services),
    ...keyRoutes(services),
    ...accountRoutes(services),
    ...accountChangeRoutes(services),
    ...accountKeyRoutes(services),
    ...requestRoutes(services),
    auditRoute(services),
    ...operationRoutes(services),
  ];
  const { configuration } = services;
  return [...described, ...documentRoutes(openApi(configuration, described), configuration)];
}
