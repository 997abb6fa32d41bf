import type { DashboardServices, Route } from '../types.js';
import { createFlow } from './flow.js';
import { linkRoute } from './link.js';
import { signOutRoutes } from './sign-out.js';
import { thirdPartyRoutes } from './third-party.js';

/** The routes that sign people in and out. The sign-in page is among the pages. */
export function signInRoutes(services: DashboardServices): Route[] {
  const flow = createFlow(services);
  const { providers } = services.configuration.sign_in;
  return [
    linkRoute(flow),
    ...signOutRoutes(flow),
    ...[...providers.values()].flatMap((provider) => thirdPartyRoutes(flow, provider)),
  ];
}
