import type { DashboardServices } from '../types.js';
import { ownAccountShape } from '../views/shapes.js';
import { answerLedger, answerUsage } from './account-records.js';
import { ownRoute, type ApiRoute } from './route.js';

/** The routes about a visitor's own account. */
export function ownRoutes(services: DashboardServices): ApiRoute[] {
  return [
    ownRoute({
      method: 'GET',
      path: '/api/account',
      about: {
        id: 'getAccount',
        summary: 'Get your account: its balance, the held part of it, and the rest',
        status: 200,
        answer: 'OwnAccount',
      },
      async answer(ctx, visitor) {
        const account = await services.store.account(visitor.session.account_id);
        if (!account) throw new Error('The account of a session is gone.');
        ctx.body = ownAccountShape(account, visitor);
      },
    }),
    {
      method: 'GET',
      path: '/api/usage',
      access: 'session',
      takes_keys: true,
      about: {
        id: 'getUsage',
        summary: 'Get usage and cost, by day, model or key',
        query: 'usage-query',
        status: 200,
        answer: 'Usage',
        csv: true,
      },
      answer(ctx, visitor, _token, caller) {
        const account_id = caller?.account_id ?? visitor?.session.account_id;
        if (account_id === undefined) throw new Error('Usage needs an account.');
        return answerUsage(ctx, account_id, services, caller?.key_id);
      },
    },
    ownRoute({
      method: 'GET',
      path: '/api/ledger',
      about: {
        id: 'getLedger',
        summary: 'List credits, charges and refunds, newest first, page by page',
        query: 'ledger-query',
        status: 200,
        answer: 'Ledger',
      },
      answer: (ctx, { session }) => answerLedger(ctx, session.account_id, services),
    }),
  ];
}
