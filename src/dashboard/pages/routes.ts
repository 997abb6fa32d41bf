import type { DashboardServices, Route } from '../types.js';
import { agentsRoute } from './agents.js';
import { assetRoute } from './assets.js';
import { cachesRoute } from './caches.js';
import { docsRoutes } from './docs.js';
import { createKeyRoutes } from './key-create.js';
import { changeKeyRoutes, keysRoute } from './keys.js';
import { ledgerRoute } from './ledger.js';
import { modelRoute } from './model.js';
import { modelsRoute } from './models.js';
import { accountActionRoutes } from './operator/account-actions.js';
import { accountLimitsRoutes } from './operator/account-limits.js';
import { accountRoutes } from './operator/account.js';
import { accountsRoutes } from './operator/accounts.js';
import { auditPageRoute } from './operator/audit.js';
import { billsRoute } from './operator/bills.js';
import { boxesRoute } from './operator/boxes.js';
import { liveRoute } from './operator/overview.js';
import { profitRoute } from './operator/profit.js';
import { providersRoute } from './operator/providers.js';
import { refundRoutes } from './operator/refund.js';
import { tasksRoute } from './operator/tasks.js';
import { createTokenRoutes } from './operator/token-create.js';
import { tokensRoutes } from './operator/tokens.js';
import { overviewRoute } from './overview.js';
import { playgroundRoute } from './playground.js';
import { requestsRoutes } from './requests/list.js';
import { requestRoutes } from './requests/request.js';
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
    cachesRoute(services),
    ledgerRoute(services),
    ...requestsRoutes(services),
    ...requestRoutes(services),
    modelsRoute(services),
    modelRoute(services),
    agentsRoute(services),
    playgroundRoute(services),
    ...docsRoutes,
    ...settingsRoutes(services),
    keysRoute(services),
    ...createKeyRoutes(services),
    ...changeKeyRoutes(services),
    liveRoute(services),
    profitRoute(services),
    ...accountsRoutes(services),
    ...accountRoutes(services),
    ...accountActionRoutes(services),
    ...accountLimitsRoutes(services),
    ...refundRoutes(services),
    ...tokensRoutes(services),
    ...createTokenRoutes(services),
    auditPageRoute(services),
    tasksRoute(services),
    boxesRoute(services),
    providersRoute(services),
    billsRoute(services),
  ];
}
