import { PROBES } from '../config/endpoint-slips.js';
import type { Services } from '../pipeline/services.js';
import type { StageMiddleware } from '../pipeline/stage.js';
import { restartSentence } from './start-settings.js';
import { FileDeleted } from '../store/sqlite/sqlite-file.js';

/** The health of this process; changed by the gateway, read by the probes. */
export interface Health {
  draining: boolean;
  /** Why an edited configuration was refused; the older one then stays in use. */
  configuration_fault: string | undefined;
  /** The same for operators, with text of the file. */
  configuration_reason: string | undefined;
  /** The changed keys that wait for a restart. */
  restart_keys: readonly string[];
}

/**
 * Answers `/healthz` (the process is alive) and `/readyz` (it can take requests), without a key. A
 * broken new configuration does not make it unready while an older one serves.
 */
export function health(state: Health, { store, settler }: Services): StageMiddleware {
  const ping = sharedPing(store);
  return async (ctx, next) => {
    if (!PROBES.has(ctx.path) || !['GET', 'HEAD'].includes(ctx.method)) await next();
    else if (ctx.path === '/healthz') ctx.body = { status: 'ok' };
    else
      await readiness(ctx, state, async () => {
        const faults = [await ping(), settler.fault].filter((fault) => fault !== undefined);
        return faults.length > 0 ? faults.join('; ') : undefined;
      });
  };
}

async function readiness(
  ctx: Parameters<StageMiddleware>[0],
  state: Health,
  storeFault: () => Promise<string | undefined>,
): Promise<void> {
  const reason = state.draining ? 'the gateway is stopping' : await storeFault();
  const { configuration_fault: fault } = state;
  const configuration =
    fault === undefined ? restartSentence(state.restart_keys) : `older one serves: ${fault}`;
  ctx.status = reason === undefined ? 200 : 503;
  ctx.body = {
    status: reason === undefined ? 'ready' : 'not_ready',
    ...(reason !== undefined && { reason }),
    ...(configuration !== undefined && { configuration }),
  };
}

/** How long a probe waits for the store. */
const PING_MS = 1_500;

/**
 * Returns a function that resolves with the fault of the store, or undefined. Concurrent probes
 * share one query.
 */
function sharedPing(store: Services['store']): () => Promise<string | undefined> {
  let pending: Promise<string | undefined> | undefined;
  const ping = async (): Promise<string | undefined> => {
    try {
      await store.ping();
      return undefined;
    } catch (error) {
      return error instanceof FileDeleted
        ? 'the file of the store was deleted or replaced'
        : 'the store does not answer';
    }
  };
  return async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('the store does not answer in time'), PING_MS);
    });
    pending ??= ping().finally(() => {
      pending = undefined;
    });
    const fault = await Promise.race([pending, late]);
    clearTimeout(timer);
    return fault;
  };
}
