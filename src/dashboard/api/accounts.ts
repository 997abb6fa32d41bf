import type { AccountCreation } from '../../schema-types/account-creation.js';
import type { AccountCredit } from '../../schema-types/account-credit.js';
import type { AccountQuery } from '../../schema-types/account-query.js';
import type { DashboardContext, DashboardServices, Visitor } from '../types.js';
import { creditAccount, makeAccount } from '../views/accounts.js';
import { isName, pageOf, readCursor } from '../views/cursor.js';
import { accountShape, entryShape } from '../views/shapes.js';
import { bodyReader, queryReader } from './input.js';
import { apiRoute, type ApiRoute } from './route.js';

const DEFAULT_LIMIT = 50;

const readQuery = queryReader<AccountQuery>('account-query');
const readCreation = bodyReader<AccountCreation>('account-creation');
const readCredit = bodyReader<AccountCredit>('account-credit');

/** The routes about all accounts, for operators. */
export function accountRoutes(services: DashboardServices): ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: '/api/accounts',
      who: 'operator',
      about: {
        id: 'listAccounts',
        summary: 'All accounts by name, page by page',
        query: 'account-query',
        status: 200,
        answer: 'AccountPage',
      },
      answer: (ctx) => list(ctx, services),
    }),
    apiRoute({
      method: 'POST',
      path: '/api/accounts',
      who: 'operator',
      about: {
        id: 'createAccount',
        summary: 'Make an account, with credit to begin with',
        body: 'account-creation',
        status: 201,
        answer: 'Account',
      },
      answer: (ctx, visitor) => create(ctx, visitor, services),
    }),
    apiRoute({
      method: 'POST',
      path: '/api/accounts/:accountID/credit',
      who: 'operator',
      about: {
        id: 'creditAccount',
        summary: 'Credit an account; the same reference twice credits once',
        body: 'account-credit',
        status: 200,
        answer: 'Credited',
        unknown: 'There is no such account.',
      },
      answer: (ctx, visitor) => credit(ctx, visitor, services),
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
  { session }: Visitor,
  services: DashboardServices,
): Promise<void> {
  const account = await makeAccount(services, await readCreation(ctx));
  const { request_id } = ctx.state;
  const told = { request_id, account: account.id, by: session.account_id };
  services.log.info(told, 'an operator made an account');
  ctx.status = 201;
  ctx.body = accountShape(account);
}

async function credit(
  ctx: DashboardContext,
  { session }: Visitor,
  services: DashboardServices,
): Promise<void> {
  const asked = await readCredit(ctx);
  const { entry, account } = await creditAccount(services, ctx.params['accountID'] ?? '', asked);
  const { request_id } = ctx.state;
  const told = { request_id, account: account.id, entry: entry.id, by: session.account_id };
  services.log.info(told, 'an operator credited an account');
  ctx.body = { entry: entryShape(entry), account: accountShape(account) };
}
