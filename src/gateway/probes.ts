import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../lib/with-timeout.js';
import type { Services } from '../pipeline/services.js';
import type { StageMiddleware } from '../pipeline/stage.js';
import { restartSentence } from './start-settings.js';
import type { DifferingPart } from '../telemetry/boxes.js';
import { FileDeleted } from '../store/sqlite/sqlite-file.js';

/** The paths that the gateway itself answers, without a key. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** The health of this process; changed by the gateway, read by the probes. */
export interface Health {
  /**
   * `leaving`: not ready, and takes new work for `drain_delay`. Then `closing`: takes no new
   * connection, and ends each after its next answer. Without a delay `refusing`: new work is 503.
   */
  phase: 'serving' | 'leaving' | 'closing' | 'refusing';
  /** Why this version may not serve the store any more. */
  outdated: string | undefined;
  /** The store accepts connections and does not answer: new requests are refused at once. */
  store_hangs: boolean;
  /** Why an edited configuration was refused; the older one then stays in use. */
  configuration_fault: string | undefined;
  /** The same for operators, with text of the file. */
  configuration_reason: string | undefined;
  /** The changed keys that wait for a restart. */
  restart_keys: readonly string[];
  /** The parts in which the boxes on the store differ for longer than a reload takes. */
  boxes_differ_in: readonly DifferingPart[];
}

/**
 * Answers `/healthz` (the process is alive) and `/readyz` (it can take requests), without a key. A
 * broken new configuration does not make it unready while an older one serves.
 */
export function health(
  state: Health,
  { charge_writer }: Pick<Services, 'charge_writer'>,
  lookAtStore: LookAtStore,
): StageMiddleware {
  return async (ctx, next) => {
    if (!PROBES.has(ctx.path) || !['GET', 'HEAD'].includes(ctx.method)) await next();
    else if (ctx.path === '/healthz') ctx.body = { status: 'ok' };
    else
      await readiness(ctx, state, async () => {
        const faults = [await lookAtStore(), charge_writer.fault].filter(
          (fault) => fault !== undefined,
        );
        return faults.length > 0 ? faults.join('; ') : undefined;
      });
  };
}

async function readiness(
  ctx: Parameters<StageMiddleware>[0],
  state: Health,
  storeFault: () => Promise<string | undefined>,
): Promise<void> {
  const isStopping = state.phase !== 'serving';
  const reason = state.outdated ?? (isStopping ? 'the gateway is stopping' : await storeFault());
  const { configuration_fault: fault, boxes_differ_in: parts } = state;
  const configuration =
    fault === undefined ? restartSentence(state.restart_keys) : `older one serves: ${fault}`;
  ctx.status = reason === undefined ? 200 : 503;
  ctx.body = {
    status: reason === undefined ? 'ready' : 'not_ready',
    ...(reason !== undefined && { reason }),
    ...(configuration !== undefined && { configuration }),
    ...(parts.length > 0 && { boxes: `the boxes on this store differ in ${parts.join(', ')}` }),
  };
}

/** How long a probe waits for the store. */
const PING_MS = 1_500;
const LATE = 'the store does not answer in time';
/** The pause between two looks at a store that hangs. */
const LOOK_MS = 500;

/** Resolves with the fault of the store; undefined if it answers. */
export type LookAtStore = () => Promise<string | undefined>;

/**
 * Returns a function that looks at the store; concurrent looks share one query. A store that hangs
 * is noted in `state`, and then looked at until it does not hang any more.
 */
export function storeWatch(store: Pick<Services['store'], 'ping'>, state: Health): LookAtStore {
  let pending: Promise<string | undefined> | undefined;
  const ping = async (): Promise<string | undefined> => {
    const began_ms = performance.now();
    try {
      await store.ping();
      return undefined;
    } catch (error) {
      if (error instanceof FileDeleted) return 'the file of the store was deleted or replaced';
      return performance.now() - began_ms < PING_MS ? 'the store does not answer' : LATE;
    }
  };
  const lookOnce = async (): Promise<string | undefined> => {
    pending ??= ping().finally(() => {
      pending = undefined;
    });
    const seen = await withTimeout(
      pending.then((fault) => ({ fault })),
      PING_MS,
    );
    return seen ? seen.fault : LATE;
  };
  const untilItAnswers = async (): Promise<void> => {
    while (state.store_hangs) {
      await sleep(LOOK_MS, undefined, { ref: false });
      state.store_hangs = (await lookOnce()) === LATE;
    }
  };
  return async () => {
    const fault = await lookOnce();
    const isNew = fault === LATE && !state.store_hangs;
    state.store_hangs = fault === LATE;
    if (isNew) void untilItAnswers();
    return fault;
  };
}
