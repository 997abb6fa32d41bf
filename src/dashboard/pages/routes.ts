import type { DashboardServices, Route } from '../types.js';
import { agentsRoute } from './agents.js';
import { assetRoute } from './assets.js';
import { createKeyRoutes } from './key-create.js';
import { revokeRoutes } from './key-revoke.js';
import { keysRoute } from './keys.js';
import { modelsRoute } from './models.js';
import { accountRoutes } from './operator/account.js';
import { accountsRoutes } from './operator/accounts.js';
import { configurationRoute } from './operator/configuration.js';
import { providersRoute } from './operator/providers.js';
import { tasksRoute } from './operator/tasks.js';
import { overviewRoute } from './overview.js';
import { playgroundRoute } from './playground.js';
import { settingsRoutes } from './settings.js';
import { signInRoute } from './sign-in.js';
import { usageRoute } from './usage.js';

/** The pages and their assets. */
export function pageRoutes(services: DashboardServices): Route[] {
  return [
    assetRoute,
    signInRoute(services),
    overviewRoute(services),
    usageRoute(services),
    modelsRoute(services),
    agentsRoute(services),
    playgroundRoute(services),
    ...settingsRoutes(services),
    keysRoute(services),
    ...createKeyRoutes(services),
    ...revokeRoutes(services),
    ...accountsRoutes(services),
    ...accountRoutes(services),
    tasksRoute(services),
    providersRoute(services),
    configurationRoute(services),
  ];
}
