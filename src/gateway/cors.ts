import type Router from '@koa/router';
import type { Context, Handle, StageMiddleware, State } from '../pipeline/stage.js';

/** Headers of requests that clients in a browser may send: those of the SDKs, by name or prefix. */
const TAKEN: ReadonlySet<string> = new Set([
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
const TAKEN_PREFIXES = [
  'anthropic-',
  'openai-',
  'x-fal-',
  'x-goog-',
  'x-openrouter-',
  'x-stainless-',
];

/** Headers of answers that a page may read beside the few that it always may. */
const SHOWN = [
  'x-request-id',
  'request-id',
  'retry-after',
  'tollgate-adjusted',
  'tollgate-attempts',
  'tollgate-cost',
  'tollgate-ignored',
  'tollgate-upstream',
  'idempotent-replayed',
  'content-disposition',
  'content-range',
].join(', ');

/** Browsers ask again after two hours at the latest. */
const MAX_AGE_S = '7200';

/**
 * Lets pages of these origins call the endpoints. A key is sent with each call and never a cookie,
 * so that no page acts in the name of someone who is signed in.
 */
export function shareWith(origins: readonly string[], run: Handle): Handle {
  if (origins.length === 0) return run;
  return (ctx) => {
    if (allowOrigin(ctx, origins)) ctx.set('access-control-expose-headers', SHOWN);
    return run(ctx);
  };
}

/** Answers the question that a browser asks before a call to an endpoint. */
export function preflight(origins: readonly string[], router: Router<State>): StageMiddleware {
  return (ctx, next) => {
    const wanted = ctx.get('access-control-request-method');
    if (ctx.method !== 'OPTIONS' || wanted === '') return next();
    const methods = new Set(router.match(ctx.path, wanted).path.flatMap((one) => one.methods));
    if (!methods.has(wanted) || !allowOrigin(ctx, origins)) return next();
    const asked = ctx.get('access-control-request-headers').toLowerCase().split(',');
    ctx.set('access-control-allow-methods', [...methods].join(', '));
    ctx.set(
      'access-control-allow-headers',
      asked
        .map((name) => name.trim())
        .filter(isTaken)
        .join(', '),
    );
    ctx.set('access-control-max-age', MAX_AGE_S);
    ctx.vary('access-control-request-headers');
    ctx.status = 204;
    return Promise.resolve();
  };
}

/** Whether the page that asks may read the answer; caches are told what that depends on. */
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

function isTaken(name: string): boolean {
  return TAKEN.has(name) || TAKEN_PREFIXES.some((prefix) => name.startsWith(prefix));
}
