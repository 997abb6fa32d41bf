import {
  accountOfId,
  isList,
  type Action,
  type ActionCaller,
  type ActionRoute,
  type ActionServices,
  type ListAction,
  type OneAction,
} from '../../actions/action.js';
import { pageOf, readCursor } from '../../actions/cursor.js';
import { ACTIONS } from '../../actions/index.js';
import { readSmallBody } from '../../http/request-body.js';
import { checking } from '../../http/body-schema.js';
import { validatorOfShipped } from '../../lib/schemas.js';
import { actionCaller, actionServices } from '../action-context.js';
import { sendCsv } from '../csv-answer.js';
import { refuseBeyondScope } from '../management-token.js';
import type { DashboardContext, DashboardServices, Route } from '../types.js';

/** A route of the management API with the action that it carries out. */
export interface ApiRoute extends Route {
  action: Action;
  about: ActionRoute;
}

const BODY_BYTES = 64 * 1024;
const DEFAULT_LIMIT = 50;

/** The routes of all actions. */
export function actionRoutes(services: DashboardServices): ApiRoute[] {
  const own = actionServices(services);
  return ACTIONS.flatMap((action) =>
    (action.routes ?? []).map((about) => routeOf(action, about, own, services.log)),
  );
}

function routeOf(
  action: Action,
  about: ActionRoute,
  services: ActionServices,
  log: DashboardServices['log'],
): ApiRoute {
  const { method, path, scope, is_open, takes_keys } = about;
  return {
    action,
    about,
    method,
    path,
    access: scope && !is_open ? 'operator' : 'session',
    ...(scope && { scope }),
    ...(takes_keys && { takes_keys }),
    async answer(ctx, visitor, token, key) {
      const caller = actionCaller(ctx, visitor, token, key);
      const input = await readInput(ctx, action, about, caller, services);
      if (isList(action)) return answerList(ctx, action, input, caller, services);
      const more = token && action.scopeFor?.(input);
      if (token && more) refuseBeyondScope(token, more);
      await answerOne(ctx, action, about, input, caller, services);
      if (method !== 'GET') log.info(logFields(ctx, action, caller), 'an action was carried out');
    },
  };
}

function logFields({ params, state }: DashboardContext, action: Action, caller: ActionCaller) {
  const { request_id } = state;
  const account = params.accountID ?? caller.account_id;
  return { request_id, action: action.name, by: caller.actor.id, account };
}

/** The fields of the query or the body, those of the path, and the account. */
async function readInput(
  ctx: DashboardContext,
  { schema }: Action,
  { method, scope }: ActionRoute,
  { account_id }: ActionCaller,
  { store }: ActionServices,
): Promise<Record<string, unknown>> {
  const { accountID, ...others } = ctx.params;
  const own = scope === undefined ? account_id : undefined;
  const account = accountID === undefined ? own : (await accountOfId(store, accountID)).id;
  const path = Object.entries(others).map(([name, id]) => [name.replace(/ID$/u, '_id'), id]);
  return {
    ...(schema && (method === 'GET' ? readQuery(ctx, schema) : await readBody(ctx, schema))),
    ...Object.fromEntries(path),
    ...(account !== undefined && { account_id: account }),
  };
}

/** Throws `GatewayError` (400, 413). */
async function readBody({ req }: DashboardContext, schema: string): Promise<object> {
  const body = await readSmallBody(req, BODY_BYTES);
  checking(validatorOfShipped(schema, 'input'))(body);
  return body as object;
}

/** An empty value, as forms send it, counts as absent. Throws `GatewayError` (400). */
function readQuery(ctx: DashboardContext, schema: string): object {
  const given = Object.entries(ctx.query).filter(([, value]) => value !== '');
  const query = Object.fromEntries(given);
  checking(validatorOfShipped(schema, 'query'))(query);
  return query;
}

async function answerList(
  ctx: DashboardContext,
  { rows, place, shape }: ListAction,
  { cursor, limit, ...input }: Record<string, unknown>,
  caller: ActionCaller,
  services: ActionServices,
): Promise<void> {
  if (!place) {
    const all = await rows(services, input, { limit: Infinity }, caller);
    ctx.body = { data: all.map((row) => shape(row, caller)) };
    return;
  }
  const count = typeof limit === 'number' ? limit : DEFAULT_LIMIT;
  const after = typeof cursor === 'string' ? readCursor(cursor, place.is) : undefined;
  const page = { limit: count + 1, ...(after !== undefined && { after }) };
  const found = await rows(services, input, page, caller);
  const { rows: shown, next_cursor } = pageOf(found, count, place.of);
  ctx.body = { data: shown.map((row) => shape(row, caller)), next_cursor };
}

async function answerOne(
  ctx: DashboardContext,
  action: OneAction,
  { status }: ActionRoute,
  input: object,
  caller: ActionCaller,
  services: ActionServices,
): Promise<void> {
  const result = await action.run(services, input, caller);
  ctx.status = status;
  const csv = action.csv?.(result, input, caller);
  if (csv) sendCsv(ctx, csv.file, csv.text);
  else if (action.answer) ctx.body = action.answer(result, caller);
}
