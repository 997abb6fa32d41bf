import type { StageMiddleware } from './pipeline.js';
import type { Store } from './store/types.js';

/** What the process knows of its own health; changed by the gateway, read by the probes. */
export interface Health {
  draining: boolean;
  /** Why an edited configuration was not taken up; the older one then serves on. */
  configuration_fault: string | undefined;
}

/** Where the probes ask. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/**
 * `/healthz`: the process answers. `/readyz`: it can take work, which a broken new configuration
 * does not change, as long as an older one serves. Neither wants a key.
 */
export function health(state: Health, store: Store): StageMiddleware {
  return async (ctx, next) => {
    if (!PROBES.has(ctx.path) || !['GET', 'HEAD'].includes(ctx.method)) await next();
    else if (ctx.path === '/healthz') ctx.body = { status: 'ok' };
    else await readiness(ctx, state, store);
  };
}

async function readiness(
  ctx: Parameters<StageMiddleware>[0],
  state: Health,
  store: Store,
): Promise<void> {
  const reason = state.draining ? 'the gateway is stopping' : await storeFault(store);
  ctx.status = reason === undefined ? 200 : 503;
  ctx.body = {
    status: reason === undefined ? 'ready' : 'not_ready',
    ...(reason !== undefined && { reason }),
    ...(state.configuration_fault !== undefined && {
      configuration: `older one serves: ${state.configuration_fault}`,
    }),
  };
}

async function storeFault(store: Store): Promise<string | undefined> {
  try {
    await store.ping();
    return undefined;
  } catch {
    return 'the store does not answer';
  }
}
