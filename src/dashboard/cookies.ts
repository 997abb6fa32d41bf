import type { DashboardContext } from './types.js';

export interface Cookie {
  name: string;
  value: string;
  path: string;
  /** Zero deletes the cookie. */
  lifetime_ms: number;
}

/**
 * Sets a cookie that scripts cannot read and other sites' forms do not send. Koa would decide on
 * `Secure` by the connection, but only `public_url` says whether browsers use https.
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

type CookieSource = Pick<DashboardContext, 'cookies'>;

/** The secret in a cookie; undefined if it does not look like a secret of the gateway. */
export function readSecret(ctx: CookieSource, name: string): string | undefined {
  const secret = ctx.cookies.get(name);
  return secret !== undefined && /^[\w-]{43}$/u.test(secret) ? secret : undefined;
}

export function sessionSecret(ctx: CookieSource): string | undefined {
  return readSecret(ctx, 'session');
}
