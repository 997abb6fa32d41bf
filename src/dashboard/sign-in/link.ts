import { GatewayError } from '../../core/errors.js';
import { seeOther } from '../redirect.js';
import type { DashboardContext, Route } from '../types.js';
import { startSession, type Flow } from './flow.js';

/** The link that `tollgate sign-in-link` prints. */
export function linkRoute(flow: Flow): Route {
  const path = '/sign-in/link';
  return { method: 'GET', path, access: 'optional', answer: (ctx) => follow(flow, ctx) };
}

async function follow(flow: Flow, ctx: DashboardContext): Promise<void> {
  if (isPrefetch(ctx)) {
    ctx.status = 204;
    return;
  }
  await flow.count(ctx.req);
  const { sign_in } = flow.services.store;
  const { token } = ctx.query;
  const isWellFormed = typeof token === 'string' && /^[\w-]{43}$/u.test(token);
  const link = isWellFormed ? await sign_in.useLink(token) : undefined;
  // Unknown, used and expired links get the same answer.
  if (!link) {
    const message = 'This sign-in link does not work. Links work once, within ten minutes';
    throw new GatewayError('invalid_request', `${message}: ask for a new one.`);
  }
  const { account_id, operator } = link;
  await startSession(flow, ctx, { account_id, email: null, via: 'link', operator });
  const { request_id } = ctx.state;
  flow.services.log.info({ request_id, account: account_id, operator }, 'signed in by a link');
  seeOther(ctx, '/');
}

/** Whether a browser prefetches the link or a program previews it. Neither may use up the link. */
function isPrefetch({ method, req }: DashboardContext): boolean {
  const purposes = [req.headers['sec-purpose'], req.headers.purpose, req.headers['x-moz']];
  return method === 'HEAD' || purposes.some((purpose) => /prefetch|preview/u.test(String(purpose)));
}
