import type { ActionCaller, ActionServices, OneAction } from '../actions/action.js';
import type { Caller } from '../core/model.js';
import type { ManagementToken } from '../store/tokens/management-tokens.js';
import { actorOf } from './actor.js';
import type { DashboardContext, DashboardServices, Visitor } from './types.js';

/** The services of an action in a gateway that serves. */
export function actionServices(services: DashboardServices): ActionServices {
  const { store, now, configuration, health } = services;
  return {
    store,
    now,
    gateway: { configuration, health },
    publicUrl: () => configuration.public_url,
  };
}

/** The caller of an action: an API key, a program with a token, or a person who is signed in. */
export function actionCaller(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  token?: ManagementToken,
  key?: Caller,
): ActionCaller {
  if (key) {
    const { account_id, key_id } = key;
    const { request_id } = ctx.state;
    const actor = { kind: 'key', id: key_id, name: null, request_id } as const;
    return { actor, account_id, key_id, is_operator: false };
  }
  const actor = actorOf(ctx, visitor, token);
  if (!visitor) return { actor, is_operator: true };
  const { account_id, email } = visitor.session;
  return { actor, account_id, email, is_operator: visitor.operator };
}

/** The caller of an action on a page for operators, who has all accounts and none of its own. */
export function operatorCaller(ctx: DashboardContext, visitor: Visitor | undefined): ActionCaller {
  return { actor: actorOf(ctx, visitor), is_operator: true };
}

/** Carries out an action for the visitor of a page. */
export function runAction<Input extends object, Result>(
  action: OneAction<Input, Result>,
  input: Input,
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<Result> {
  return action.run(actionServices(services), input, actionCaller(ctx, visitor));
}
