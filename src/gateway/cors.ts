import type Router from '@koa/router';
import type { Context, Handle, StageMiddleware, State } from '../pipeline/stage.js';

/** Request headers that a browser may send, by name or prefix: those of the client SDKs. */
const ALLOWED_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'content-type',
  'http-referer',
  'idempotency-key',
  'range',
  'user-agent',
  'x-api-key',
  'x-request-id',
  'x-title',
]);
const ALLOWED_PREFIXES = [
  'anthropic-',
  'openai-',
  'x-fal-',
  'x-goog-',
  'x-openrouter-',
  'x-stainless-',
];

/** Response headers that a page may read, beside those that CORS always allows. */
const EXPOSED_HEADERS = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'tollgate-adjusted',
  'tollgate-attempts',
  'tollgate-model',
  'tollgate-cost',
  'tollgate-ignored',
  'tollgate-upstream',
  'idempotent-replayed',
  'content-disposition',
  'content-range',
].join(', ');

/** How long a browser may cache the answer to a preflight request: two hours. */
const MAX_AGE_S = '7200';

/**
 * Lets pages of these origins call an endpoint. Calls carry an API key and never a cookie, so a
 * page cannot act for a user who is signed in to the dashboard.
 */
export function allowCors(origins: readonly string[], run: Handle): Handle {
  if (origins.length === 0) return run;
  return (ctx) => {
    if (allowOrigin(ctx, origins)) ctx.set('access-control-expose-headers', EXPOSED_HEADERS);
    return run(ctx);
  };
}

/** Answers the preflight request (OPTIONS) that a browser sends before a call to an endpoint. */
export function preflight(origins: readonly string[], router: Router<State>): StageMiddleware {
  return (ctx, next) => {
    const wanted = ctx.get('access-control-request-method');
    if (ctx.method !== 'OPTIONS' || wanted === '') return next();
    const methods = new Set(router.match(ctx.path, wanted).path.flatMap((one) => one.methods));
    if (!methods.has(wanted) || !allowOrigin(ctx, origins)) return next();
    const requested = ctx.get('access-control-request-headers').toLowerCase().split(',');
    ctx.set('access-control-allow-methods', [...methods].join(', '));
    ctx.set(
      'access-control-allow-headers',
      requested
        .map((name) => name.trim())
        .filter(isAllowed)
        .join(', '),
    );
    ctx.set('access-control-max-age', MAX_AGE_S);
    ctx.vary('access-control-request-headers');
    ctx.status = 204;
    return Promise.resolve();
  };
}

/** Allows the origin of the request if it is listed. Sets `Vary`, as the answer depends on it. */
function allowOrigin(ctx: Context, origins: readonly string[]): boolean {
  if (origins.includes('*')) {
    ctx.set('access-control-allow-origin', '*');
    return true;
  }
  ctx.vary('origin');
  const origin = ctx.get('origin');
  if (!origins.includes(origin)) return false;
  ctx.set('access-control-allow-origin', origin);
  return true;
}

function isAllowed(name: string): boolean {
  return ALLOWED_HEADERS.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
