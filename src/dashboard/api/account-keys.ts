import type { Actor } from '../../core/actor.js';
import { GatewayError } from '../../core/errors.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { makeKey, shownKeys } from '../views/keys.js';
import { keyShape } from '../views/shapes.js';
import { accountAt } from './account-at.js';
import { readKeyCreation } from './keys.js';
import { operatorRoute, type ApiRoute } from './route.js';

const PATH = '/api/accounts/:accountID/keys';
const UNKNOWN = 'There is no such account, or no such active key of it.';

/** The routes about the keys of any account, for operators and their programs. */
export function accountKeyRoutes(services: DashboardServices): ApiRoute[] {
  return [
    operatorRoute({
      method: 'GET',
      path: PATH,
      scope: 'keys:read',
      about: {
        id: 'listAccountKeys',
        summary: 'List the keys of an account, newest first',
        status: 200,
        answer: 'KeyList',
        unknown: UNKNOWN,
      },
      async answer(ctx) {
        const { id } = await accountAt(ctx, services);
        ctx.body = { data: shownKeys(await services.store.keys(id)).map(keyShape) };
      },
    }),
    operatorRoute({
      method: 'POST',
      path: PATH,
      scope: 'keys:write',
      about: {
        id: 'createAccountKey',
        summary: 'Create a key for an account; only this answer has its secret',
        body: 'key-creation',
        status: 201,
        answer: 'NewKey',
        unknown: UNKNOWN,
      },
      answer: (ctx, by) => create(ctx, by, services),
    }),
    operatorRoute({
      method: 'DELETE',
      path: `${PATH}/:keyID`,
      scope: 'keys:write',
      about: {
        id: 'revokeAccountKey',
        summary: 'Revoke a key; once this answers, every process refuses it',
        status: 204,
        unknown: UNKNOWN,
      },
      answer: (ctx, by) => revoke(ctx, by, services),
    }),
  ];
}

async function create(
  ctx: DashboardContext,
  by: Actor,
  services: DashboardServices,
): Promise<void> {
  const { id } = await accountAt(ctx, services);
  const { key, secret } = await makeKey(services, id, await readKeyCreation(ctx), by);
  ctx.status = 201;
  ctx.body = Object.assign(keyShape(key), { secret });
}

async function revoke(
  ctx: DashboardContext,
  by: Actor,
  services: DashboardServices,
): Promise<void> {
  const { id } = await accountAt(ctx, services);
  const key = ctx.params['keyID'] ?? '';
  if (!/^[\w-]{1,100}$/u.test(key) || !(await services.store.revokeKey(key, id, by))) {
    throw new GatewayError('not_found', UNKNOWN);
  }
  ctx.status = 204;
}
