import { sessionSecret, setCookie } from '../cookies.js';
import { seeOther } from '../redirect.js';
import type { DashboardContext, Route } from '../types.js';
import type { Flow } from './flow.js';

/** Ends the session of this browser, or all sessions of the account. */
export function signOutRoutes(flow: Flow): Route[] {
  const { sign_in } = flow.services.store;
  return [
    {
      method: 'POST',
      path: '/sign-out',
      access: 'optional',
      answer: async (ctx) => {
        const secret = sessionSecret(ctx);
        if (secret !== undefined) await sign_in.endSession(secret);
        leave(flow, ctx);
      },
    },
    {
      method: 'POST',
      path: '/sign-out/everywhere',
      access: 'session',
      answer: async (ctx, visitor) => {
        if (visitor) await sign_in.endSessions(visitor.session.account_id);
        leave(flow, ctx);
      },
    },
  ];
}

function leave({ https }: Flow, ctx: DashboardContext): void {
  setCookie(ctx, https, { name: 'session', value: '', path: '/', lifetime_ms: 0 });
  seeOther(ctx, '/sign-in');
}
