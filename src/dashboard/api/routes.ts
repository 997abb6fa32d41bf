import { openApi } from '../openapi/document.js';
import { documentRoutes } from '../openapi/routes.js';
import type { DashboardServices, Route } from '../types.js';
import { actionRoutes } from './action-routes.js';

/** The management API, its description and its reference page. */
export function apiRoutes(services: DashboardServices): Route[] {
  const { configuration } = services;
  const described = actionRoutes(services);
  const document = () => openApi(configuration, described);
  return [...described, ...documentRoutes(document, configuration)];
}
