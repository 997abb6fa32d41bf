import type { DashboardContext } from './types.js';

export interface Cookie {
  name: string;
  value: string;
  path: string;
  /** Zero takes it away. */
  lifetime_ms: number;
}

/**
 * Sets a cookie that no script reads and no other site's form sends. It is written here, because
 * Koa looks at the connection for what `public_url` alone can know: whether people come by https.
 */
export function setCookie(ctx: DashboardContext, https: boolean, cookie: Cookie): void {
  const { name, value, path, lifetime_ms } = cookie;
  const age = `Max-Age=${Math.floor(lifetime_ms / 1000)}`;
  const secure = https ? '; Secure' : '';
  ctx.append(
    'set-cookie',
    `${name}=${value}; Path=${path}; ${age}; HttpOnly; SameSite=Lax${secure}`,
  );
}

/** The secret of a cookie; undefined for what cannot be one of ours. */
export function readSecret(ctx: DashboardContext, name: string): string | undefined {
  const secret = ctx.cookies.get(name);
  return secret !== undefined && /^[\w-]{43}$/u.test(secret) ? secret : undefined;
}

export function sessionSecret(ctx: DashboardContext): string | undefined {
  return readSecret(ctx, 'session');
}
