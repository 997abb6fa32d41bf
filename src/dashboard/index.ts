import Router from '@koa/router';
import type { Middleware } from 'koa';
import { GatewayError, unauthorized } from '../core/errors.js';
import type { Context, State } from '../pipeline/stage.js';
import { keyReader, type KeyReader } from './api-key.js';
import { apiRoutes } from './api/routes.js';
import { errorPage } from './error-page.js';
import { refuseCrossSite } from './origin.js';
import { pageRoutes } from './pages/routes.js';
import { seeOther } from './redirect.js';
import { formPage, returnTo, signInAddress } from './return-to.js';
import { refuseBeyondScope, tokenReader, type TokenReader } from './management-token.js';
import { securityHeaders } from './security.js';
import { signInRoutes } from './sign-in/routes.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from './types.js';
import { visitorOf } from './visitor.js';
import { logPublicError } from '../pipeline/public-error.js';

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
  const tools: Tools = {
    tokenOf: tokenReader(services),
    callerOf: keyReader(services),
    isPage: (path) => router.match(path, 'GET').route,
  };
  for (const route of routes) {
    const setHeaders = route.inline_styles ? lenient : strict;
    const handle = async (ctx: DashboardContext): Promise<void> => {
      await setHeaders(ctx);
      const known: Known = {};
      await showingErrors(ctx, services, known, () => answer(ctx, route, services, tools, known));
    };
    router.register(route.path, [route.method], [handle]);
  }
  const dispatch = router.routes();
  /** Shows an error outside the routes; a signed-in visitor gets the page with the menu. */
  const showError = async (ctx: Context, error: unknown): Promise<void> => {
    await strict(ctx);
    const known: Known = {};
    await showingErrors(ctx, services, known, async () => {
      if (!answersJson(ctx.path)) known.visitor = await visitorOf(ctx, services);
      throw error;
    });
  };
  /** A browser gets a page about an unknown path; a program gets JSON. */
  const nextOrPage = async (ctx: Context, next: () => Promise<unknown>): Promise<void> => {
    try {
      await next();
    } catch (error) {
      if (ctx.state.endpoint !== undefined) throw error;
      await showError(ctx, error);
    }
  };
  return async (ctx, next) => {
    const { path: layers, route } = router.match(ctx.path, ctx.method);
    if (layers.length === 0) return wantsPage(ctx) ? nextOrPage(ctx, next) : next();
    if (route) return dispatch(Object.assign(ctx, { params: {}, router }), next);
    return showError(ctx, notAllowed(ctx, new Set(layers.flatMap(({ methods }) => methods))));
  };
}

/** The parts of `mount` that an answer needs. */
interface Tools {
  tokenOf: TokenReader;
  callerOf: KeyReader;
  /** Whether a path can be opened by GET. */
  isPage: (path: string) => boolean;
}

/** The facts about a request that its error page needs, as soon as they are known. */
interface Known {
  /** A page with a visitor has the menu. */
  visitor?: Visitor | undefined;
  /** The page to open after sign-in. */
  return_to?: string;
}

async function answer(
  ctx: DashboardContext,
  route: Route,
  services: DashboardServices,
  { tokenOf, callerOf, isPage }: Tools,
  known: Known,
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
  if (route.takes_keys === 'alone') {
    throw unauthorized('The API key is missing: send it as "Authorization: Bearer <API_KEY>".');
  }
  const visitor = route.access === 'public' ? undefined : await visitorOf(ctx, services);
  if (visitor) {
    ctx.state.account_id = visitor.session.account_id;
    known.visitor = visitor;
  }
  if (!visitor && needsSession(route)) {
    const page = formPage(ctx.req, public_url);
    if (isPage(new URL(page, public_url).pathname)) known.return_to = page;
    return askToSignIn(ctx, public_url);
  }
  if (!isRead(ctx)) refuseCrossSite(ctx, new URL(public_url).origin);
  if (route.access === 'operator') refuseNonOperators(visitor);
  await route.answer(ctx, visitor);
}

/** Shows the error of a page as a page. An error of the API goes on to the gateway, as JSON. */
async function showingErrors(
  ctx: Context,
  { log }: DashboardServices,
  known: Known,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (answersJson(ctx.path)) throw error;
    const { public_error, status } = logPublicError(ctx.state.request_id, error, log);
    ctx.status = status;
    ctx.set(public_error.headers);
    ctx.type = 'html';
    ctx.body = errorPage(ctx, public_error, status, known);
  }
}

/**
 * Redirects a browser to the sign-in page, which leads back here afterwards. Throws
 * `sign_in_required` for a form and for the API.
 */
function askToSignIn(ctx: DashboardContext, public_url: string): void {
  if (answersJson(ctx.path)) throw new GatewayError('sign_in_required', 'Sign in first.');
  if (!isRead(ctx)) {
    const message = 'You are not signed in, so nothing was changed. Sign in and fill in the form';
    throw new GatewayError('sign_in_required', `${message} again.`);
  }
  seeOther(ctx, signInAddress('/sign-in', returnTo(ctx.url, public_url)));
}

/** Whether the route needs a session. */
function needsSession({ access }: Route): boolean {
  return access === 'session' || access === 'operator';
}

function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether a browser opens an address: programs accept JSON, or any type. */
function wantsPage(ctx: Context): boolean {
  return isRead(ctx) && ctx.accepts('json', 'html') === 'html';
}

function answersJson(path: string): boolean {
  return path.startsWith('/api/') || path === '/openapi.json';
}

function refuseNonOperators(visitor: Visitor | undefined): void {
  if (visitor?.operator) return;
  throw new GatewayError('forbidden', 'This is for operators of the gateway only.');
}

function notAllowed(ctx: Context, methods: ReadonlySet<string>): GatewayError {
  return new GatewayError('method_not_allowed', `${ctx.path} does not take ${ctx.method}.`, {
    headers: { allow: [...methods].join(', ') },
  });
}
