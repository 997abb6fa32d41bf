import type { Actor } from '../../core/actor.js';
import type { AccountCredit } from '../../schema-types/account-credit.js';
import type { AccountRefund } from '../../schema-types/account-refund.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { creditAccount } from '../views/accounts.js';
import { refundCharge } from '../views/refunds.js';
import { accountShape, entryShape, isoTime } from '../views/shapes.js';
import { makeSignInLink } from '../sign-in/sign-in-link.js';
import { accountAt } from './account-at.js';
import { bodyReader } from './input.js';
import { operatorRoute, type ApiRoute } from './route.js';

const PATH = '/api/accounts/:accountID';
const UNKNOWN = 'There is no such account.';

const readCredit = bodyReader<AccountCredit>('account-credit');
const readRefund = bodyReader<AccountRefund>('account-refund');

/** The routes that change one account, for operators and their programs. */
export function accountChangeRoutes(services: DashboardServices): ApiRoute[] {
  return [
    operatorRoute({
      method: 'POST',
      path: `${PATH}/credit`,
      scope: 'credit:write',
      about: {
        id: 'creditAccount',
        summary: 'Credit an account; the same reference twice credits once',
        body: 'account-credit',
        status: 200,
        answer: 'Credited',
        unknown: UNKNOWN,
      },
      answer: (ctx, by) => credit(ctx, by, services),
    }),
    operatorRoute({
      method: 'POST',
      path: `${PATH}/refunds`,
      scope: 'refunds:write',
      about: {
        id: 'refundCharge',
        summary: 'Refund a charge or a part of it; the same reference twice refunds once',
        body: 'account-refund',
        status: 200,
        answer: 'Credited',
        unknown: 'There is no such account, or no such charge.',
      },
      answer: (ctx, by) => refund(ctx, by, services),
    }),
    suspensionRoute('suspend', services),
    suspensionRoute('resume', services),
    operatorRoute({
      method: 'POST',
      path: `${PATH}/sign-in-link`,
      scope: 'sign-in-links:write',
      about: {
        id: 'createSignInLink',
        summary: 'Create a link that signs in to an account, once within ten minutes',
        status: 201,
        answer: 'SignInLink',
        unknown: UNKNOWN,
      },
      answer: (ctx, by) => makeLink(ctx, by, services),
    }),
  ];
}

const SUSPENSIONS = {
  suspend: 'Suspend an account: its keys are refused until it is resumed',
  resume: 'Resume an account: its keys are accepted again',
};

function suspensionRoute(act: keyof typeof SUSPENSIONS, services: DashboardServices): ApiRoute {
  return operatorRoute({
    method: 'POST',
    path: `${PATH}/${act}`,
    scope: 'accounts:write',
    about: {
      id: `${act}Account`,
      summary: SUSPENSIONS[act],
      status: 200,
      answer: 'Account',
      unknown: UNKNOWN,
    },
    async answer(ctx, by) {
      const { id } = await accountAt(ctx, services);
      await services.store[act](id, by);
      ctx.body = accountShape(await accountAt(ctx, services));
    },
  });
}

async function makeLink(
  ctx: DashboardContext,
  by: Actor,
  services: DashboardServices,
): Promise<void> {
  const { id } = await accountAt(ctx, services);
  const { url, due_ms } = await makeSignInLink(services, id, {
    operator: false,
    by,
  });
  ctx.status = 201;
  ctx.body = { url, expires: isoTime(due_ms) };
}

async function credit(
  ctx: DashboardContext,
  by: Actor,
  services: DashboardServices,
): Promise<void> {
  const body = await readCredit(ctx);
  const id = ctx.params['accountID'] ?? '';
  const { entry, account } = await creditAccount(services, id, body, by);
  const { request_id } = ctx.state;
  const log_fields = { request_id, account: account.id, entry: entry.id, by: by.id };
  services.log.info(log_fields, 'an operator credited an account');
  ctx.body = { entry: entryShape(entry), account: accountShape(account) };
}

async function refund(
  ctx: DashboardContext,
  by: Actor,
  services: DashboardServices,
): Promise<void> {
  const body = await readRefund(ctx);
  const id = ctx.params['accountID'] ?? '';
  const { entry, account } = await refundCharge(services, id, body, by);
  const { request_id } = ctx.state;
  const log_fields = { request_id, account: account.id, entry: entry.id, by: by.id };
  services.log.info(log_fields, 'an operator refunded a charge');
  ctx.body = { entry: entryShape(entry), account: accountShape(account) };
}
