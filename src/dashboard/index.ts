import Router from '@koa/router';
import type { Middleware } from 'koa';
import { GatewayError } from '../core/errors.js';
import type { Context, State } from '../pipeline/stage.js';
import { keyReader, type KeyReader } from './api-key.js';
import { apiRoutes } from './api/routes.js';
import { errorPage } from './error-page.js';
import { refuseCrossSite } from './origin.js';
import { pageRoutes } from './pages/routes.js';
import { seeOther } from './redirect.js';
import { returnTo } from './return-to.js';
import { refuseBeyondScope, tokenReader, type TokenReader } from './management-token.js';
import { securityHeaders } from './security.js';
import { signInRoutes } from './sign-in/routes.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from './types.js';
import { visitorOf } from './visitor.js';
import { publicError } from '../pipeline/public-error.js';

/** Pages, sign-in and management API. Takes only paths of its own; all others go on to `next`. */
export function createDashboard(services: DashboardServices): Middleware<State> {
  return mount(services, [
    ...signInRoutes(services),
    ...apiRoutes(services),
    ...pageRoutes(services),
  ]);
}

/** Serves these routes. Of two routes that fit a path, the one with fewer parameters answers. */
export function mount(services: DashboardServices, routes: readonly Route[]): Middleware<State> {
  const router = new Router<State>({ sensitive: true, strict: true, exclusive: 'specificity' });
  const isHttps = services.configuration.public_url.startsWith('https:');
  const strict = securityHeaders(isHttps, false);
  const lenient = securityHeaders(isHttps, true);
  const readers = { tokenOf: tokenReader(services), callerOf: keyReader(services) };
  for (const route of routes) {
    const setHeaders = route.inline_styles ? lenient : strict;
    const handle = async (ctx: DashboardContext): Promise<void> => {
      await setHeaders(ctx);
      const seen: Seen = {};
      await showingErrors(ctx, services, () => answer(ctx, route, services, readers, seen), seen);
    };
    router.register(route.path, [route.method], [handle]);
  }
  const dispatch = router.routes();
  /** A path that nobody serves is told to a browser by a page, and to a program as JSON. */
  const nextOrPage = async (ctx: Context, next: () => Promise<unknown>): Promise<void> => {
    try {
      await next();
    } catch (error) {
      if (ctx.state.endpoint !== undefined) throw error;
      await strict(ctx);
      await showingErrors(ctx, services, () => {
        throw error;
      });
    }
  };
  return async (ctx, next) => {
    const { path: layers, route } = router.match(ctx.path, ctx.method);
    if (layers.length === 0) return wantsPage(ctx) ? nextOrPage(ctx, next) : next();
    if (route) return dispatch(Object.assign(ctx, { params: {}, router }), next);
    await strict(ctx);
    return showingErrors(ctx, services, () => {
      throw notAllowed(ctx, new Set(layers.flatMap(({ methods }) => methods)));
    });
  };
}

async function answer(
  ctx: DashboardContext,
  route: Route,
  services: DashboardServices,
  { tokenOf, callerOf }: { tokenOf: TokenReader; callerOf: KeyReader },
  seen: Seen,
): Promise<void> {
  const { public_url } = services.configuration;
  ctx.state.endpoint = route.path;
  const token = route.path.startsWith('/api/') ? await tokenOf(ctx) : undefined;
  if (token) {
    refuseBeyondScope(token, route.scope);
    return route.answer(ctx, undefined, token);
  }
  const caller = route.takes_keys ? await callerOf(ctx) : undefined;
  if (caller) {
    ctx.state.account_id = caller.account_id;
    return route.answer(ctx, undefined, undefined, caller);
  }
  const visitor = route.who === 'all' ? undefined : await visitorOf(ctx, services);
  if (visitor) {
    ctx.state.account_id = visitor.session.account_id;
    seen.visitor = visitor;
  }
  if (!visitor && isClosed(route)) return askToSignIn(ctx, public_url);
  if (!isRead(ctx)) refuseCrossSite(ctx, new URL(public_url).origin);
  if (route.who === 'operator') refuseOthers(visitor);
  await route.answer(ctx, visitor);
}

/** The visitor of a request, as soon as it is known; also the page of an error has the menu. */
interface Seen {
  visitor?: Visitor;
}

/** Shows the error of a page as a page. An error of the API goes on to the gateway, as JSON. */
async function showingErrors(
  ctx: Context,
  { log }: DashboardServices,
  act: () => Promise<void> | void,
  seen: Seen = {},
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (speaksJson(ctx.path)) throw error;
    const { shown, status } = publicError(ctx.state.request_id, error, log);
    ctx.status = status;
    ctx.set(shown.headers);
    ctx.type = 'html';
    ctx.body = errorPage(ctx, shown, status, seen.visitor);
  }
}

/** Sends a browser to the sign-in page, and back to this one afterwards. */
function askToSignIn(ctx: DashboardContext, public_url: string): void {
  if (speaksJson(ctx.path) || !isRead(ctx)) {
    throw new GatewayError('sign_in_required', 'Sign in first.');
  }
  const wanted = returnTo(ctx.url, public_url);
  seeOther(ctx, wanted === '/' ? '/sign-in' : `/sign-in?${query({ return_to: wanted })}`);
}

/** Whether the route needs a session. */
function isClosed({ who }: Route): boolean {
  return who === 'visitor' || who === 'operator';
}

function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether it is a browser that opens an address: a program asks for JSON, or for anything. */
function wantsPage(ctx: Context): boolean {
  return isRead(ctx) && ctx.accepts('json', 'html') === 'html';
}

function query(words: Record<string, string>): string {
  return new URLSearchParams(words).toString();
}

function speaksJson(path: string): boolean {
  return path.startsWith('/api/') || path === '/openapi.json';
}

function refuseOthers(visitor: Visitor | undefined): void {
  if (visitor?.operator) return;
  throw new GatewayError('forbidden', 'This is for operators of the gateway only.');
}

function notAllowed(ctx: Context, methods: ReadonlySet<string>): GatewayError {
  return new GatewayError('method_not_allowed', `${ctx.path} does not take ${ctx.method}.`, {
    headers: { allow: [...methods].join(', ') },
  });
}
