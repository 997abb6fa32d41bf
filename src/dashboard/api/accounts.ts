import type { Actor } from '../../core/actor.js';
import { parseDollars } from '../../lib/money.js';
import type { AccountCreation } from '../../schema-types/account-creation.js';
import type { AccountQuery } from '../../schema-types/account-query.js';
import type { ManagementToken } from '../../store/tokens/management-tokens.js';
import { refuseBeyondScope } from '../management-token.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { makeAccount } from '../views/accounts.js';
import { isName, pageOf, readCursor } from '../views/cursor.js';
import { accountShape } from '../views/shapes.js';
import { accountAt } from './account-at.js';
import { answerLedger, answerUsage } from './account-records.js';
import { bodyReader, queryReader } from './input.js';
import { operatorRoute, type ApiRoute } from './route.js';

const DEFAULT_LIMIT = 50;
const PATH = '/api/accounts/:accountID';
const UNKNOWN = 'There is no such account.';

const readQuery = queryReader<AccountQuery>('account-query');
const readCreation = bodyReader<AccountCreation>('account-creation');

/** The routes that list, make and read accounts, for operators and their programs. */
export function accountRoutes(services: DashboardServices): ApiRoute[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/api/accounts',
      scope: 'accounts:read',
      about: {
        id: 'listAccounts',
        summary: 'List all accounts by name, page by page',
        query: 'account-query',
        status: 200,
        answer: 'AccountPage',
      },
      answer: (ctx) => list(ctx, services),
    }),
    operatorRoute({
      method: 'POST',
      path: '/api/accounts',
      scope: 'accounts:write',
      about: {
        id: 'createAccount',
        summary: 'Create an account; an initial credit needs the scope credit:write too',
        body: 'account-creation',
        status: 201,
        answer: 'Account',
      },
      answer: (ctx, by, token) => create(ctx, by, services, token),
    }),
    ...readRoutes(services),
  ];
}

function readRoutes(services: DashboardServices): ApiRoute[] {
  return [
    operatorRoute({
      method: 'GET',
      path: PATH,
      scope: 'accounts:read',
      about: {
        id: 'readAccount',
        summary: 'Get an account: its balance, the held part of it, and whether it is suspended',
        status: 200,
        answer: 'Account',
        unknown: UNKNOWN,
      },
      async answer(ctx) {
        ctx.body = accountShape(await accountAt(ctx, services));
      },
    }),
    operatorRoute({
      method: 'GET',
      path: `${PATH}/ledger`,
      scope: 'ledger:read',
      about: {
        id: 'getAccountLedger',
        summary: 'List credits, charges and refunds of an account, newest first, page by page',
        query: 'ledger-query',
        status: 200,
        answer: 'Ledger',
        unknown: UNKNOWN,
      },
      answer: async (ctx) => answerLedger(ctx, (await accountAt(ctx, services)).id, services),
    }),
    operatorRoute({
      method: 'GET',
      path: `${PATH}/usage`,
      scope: 'usage:read',
      about: {
        id: 'getAccountUsage',
        summary: 'Get the usage and cost of an account, by day, model or key',
        query: 'usage-query',
        status: 200,
        answer: 'Usage',
        csv: true,
        unknown: UNKNOWN,
      },
      answer: async (ctx) => answerUsage(ctx, (await accountAt(ctx, services)).id, services),
    }),
  ];
}

async function list(ctx: DashboardContext, { store }: DashboardServices): Promise<void> {
  const { cursor, limit = DEFAULT_LIMIT } = readQuery(ctx);
  const after = cursor === undefined ? {} : { after: readCursor(cursor, isName) };
  const accounts = await store.accounts({ limit: limit + 1, ...after });
  const { rows, next_cursor } = pageOf(accounts, limit, ({ name }) => name);
  ctx.body = { data: rows.map(accountShape), next_cursor };
}

async function create(
  ctx: DashboardContext,
  by: Actor,
  services: DashboardServices,
  token: ManagementToken | undefined,
): Promise<void> {
  const creation = await readCreation(ctx);
  // Otherwise a token without that scope could add credit by making accounts.
  if (token && parseDollars(creation.credit ?? '0') !== 0n)
    refuseBeyondScope(token, 'credit:write');
  const account = await makeAccount(services, creation, by);
  const { request_id } = ctx.state;
  const log_fields = { request_id, account: account.id, by: by.id };
  services.log.info(log_fields, 'an operator made an account');
  ctx.status = 201;
  ctx.body = accountShape(account);
}
