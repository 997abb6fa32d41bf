import { GatewayError } from '../../core/errors.js';
import type { KeyCreation } from '../../schema-types/key-creation.js';
import { actorOf } from '../actor.js';
import type { DashboardContext, DashboardServices, Visitor } from '../types.js';
import { makeKey, shownKeys } from '../views/keys.js';
import { keyShape } from '../views/shapes.js';
import { bodyReader } from './input.js';
import { ownRoute, type ApiRoute } from './route.js';

const UNKNOWN = 'There is no such active key.';

/** Reads the body that asks for a key. */
export const readKeyCreation = bodyReader<KeyCreation>('key-creation');

/**
 * The routes about the visitor's own keys. A key of another account answers 404, as a missing one
 * does.
 */
export function keyRoutes(services: DashboardServices): ApiRoute[] {
  return [
    ownRoute({
      method: 'GET',
      path: '/api/keys',
      about: {
        id: 'listKeys',
        summary: 'List your keys, newest first',
        status: 200,
        answer: 'KeyList',
      },
      async answer(ctx, { session }) {
        const keys = await services.store.keys(session.account_id);
        ctx.body = { data: shownKeys(keys).map(keyShape) };
      },
    }),
    ownRoute({
      method: 'POST',
      path: '/api/keys',
      about: {
        id: 'createKey',
        summary: 'Create a key; only this answer has its secret',
        body: 'key-creation',
        status: 201,
        answer: 'NewKey',
      },
      answer: (ctx, visitor) => create(ctx, visitor, services),
    }),
    ownRoute({
      method: 'DELETE',
      path: '/api/keys/:keyID',
      about: {
        id: 'revokeKey',
        summary: 'Revoke a key; once this answers, every process refuses it',
        status: 204,
        unknown: UNKNOWN,
      },
      answer: (ctx, visitor) => revoke(ctx, visitor, services),
    }),
  ];
}

async function create(
  ctx: DashboardContext,
  visitor: Visitor,
  services: DashboardServices,
): Promise<void> {
  const { account_id } = visitor.session;
  const by = actorOf(ctx, visitor);
  const { key, secret } = await makeKey(services, account_id, await readKeyCreation(ctx), by);
  const { request_id } = ctx.state;
  services.log.info({ request_id, account: account_id, key: key.id }, 'a key was made');
  ctx.status = 201;
  ctx.body = Object.assign(keyShape(key), { secret });
}

async function revoke(
  ctx: DashboardContext,
  visitor: Visitor,
  { store, log }: DashboardServices,
): Promise<void> {
  const { account_id } = visitor.session;
  const by = actorOf(ctx, visitor);
  const key = ctx.params['keyID'] ?? '';
  if (!/^[\w-]{1,100}$/u.test(key) || !(await store.revokeKey(key, account_id, by))) {
    throw new GatewayError('not_found', UNKNOWN);
  }
  log.info({ request_id: ctx.state.request_id, account: account_id, key }, 'a key was revoked');
  ctx.status = 204;
}
