import type { Middleware } from 'koa';
import { GatewayError } from '../core/errors.js';
import type { State } from '../pipeline/stage.js';
import { apiRoutes } from './api/routes.js';
import { errorPage } from './error-page.js';
import { refuseCrossSite } from './origin.js';
import { pageRoutes } from './pages/routes.js';
import { seeOther } from './redirect.js';
import { returnTo } from './return-to.js';
import { securityHeaders } from './security.js';
import { signInRoutes } from './sign-in/routes.js';
import { RouteTable, type Found } from './table.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from './types.js';
import { visitorOf } from './visitor.js';
import { publicError } from '../http/public-error.js';

/** Pages, sign-in and management API. Takes only paths of its own; all others go on to `next`. */
export function createDashboard(services: DashboardServices): Middleware<State> {
  return mount(services, [
    ...signInRoutes(services),
    ...apiRoutes(services),
    ...pageRoutes(services),
  ]);
}

/** The same for any routes. */
export function mount(services: DashboardServices, routes: readonly Route[]): Middleware<State> {
  const table = new RouteTable(routes);
  const { origin, protocol } = new URL(services.configuration.public_url);
  const strict = securityHeaders(protocol === 'https:', false);
  const lenient = securityHeaders(protocol === 'https:', true);
  return async (ctx, next) => {
    const found = table.find(ctx.path);
    if (!found) return next();
    const here: DashboardContext = Object.assign(ctx, { params: found.params });
    const route = found.routes.get(ctx.method === 'HEAD' ? 'GET' : ctx.method);
    await (route?.inline_styles ? lenient : strict)(here);
    try {
      await answer(here, route, found);
    } catch (error) {
      if (speaksJson(ctx.path)) throw error;
      showError(here, error);
    }
  };

  async function answer(ctx: DashboardContext, route: Route | undefined, found: Found) {
    if (!route) throw notAllowed(ctx, found);
    ctx.state.endpoint = route.path;
    const visitor = route.who === 'all' ? undefined : await visitorOf(ctx, services);
    if (visitor) ctx.state.account_id = visitor.session.account_id;
    if (!visitor && isClosed(route)) return meetStranger(ctx);
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') refuseCrossSite(ctx, origin);
    if (route.who === 'operator') refuseOthers(visitor);
    return route.answer(ctx, visitor);
  }

  function meetStranger(ctx: DashboardContext): void {
    if (speaksJson(ctx.path) || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) {
      throw new GatewayError('sign_in_required', 'Sign in first.');
    }
    const wanted = returnTo(ctx.url, services.configuration.public_url);
    seeOther(ctx, wanted === '/' ? '/sign-in' : `/sign-in?${query({ return_to: wanted })}`);
  }

  function showError(ctx: DashboardContext, error: unknown): void {
    const { shown, status } = publicError(ctx.state.request_id, error, services.log);
    ctx.status = status;
    ctx.set(shown.headers);
    ctx.type = 'html';
    ctx.body = errorPage(ctx, shown, status);
  }
}

/** Whether one must be signed in for it. */
function isClosed({ who }: Route): boolean {
  return who === 'visitor' || who === 'operator';
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

function notAllowed(ctx: DashboardContext, { routes }: Found): GatewayError {
  const methods = [...routes.keys()].flatMap((name) => (name === 'GET' ? ['HEAD', 'GET'] : name));
  return new GatewayError('method_not_allowed', `${ctx.path} does not take ${ctx.method}.`, {
    headers: { allow: methods.join(', ') },
  });
}
