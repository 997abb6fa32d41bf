import cluster, { type Worker } from 'node:cluster';
import type { Configuration } from '../core/configuration.js';
import { seedStore, type Seeded } from '../gateway/seed.js';
import { createLog } from '../telemetry/log.js';
import { openStore } from '../store/open.js';
import { serveMetrics, type MetricsServer } from '../gateway/metrics-server.js';
import { listenFault, type Address } from './listen.js';
import { load, type ServeOptions } from './load.js';
import { OUTDATED_STATUS } from './serve-here.js';
import { onHangup, untilStopped } from './signals.js';
import { logStyle } from './terminal.js';
import { readWorkers } from './worker-metrics.js';
import { welcome } from './welcome.js';

/** A worker that dies sooner than this could not start, and is not restarted at once. */
const RESTART_MS = 1_000;

/**
 * Runs several gateways that share one address and one store. This process handles the signals,
 * passes them on, restarts workers that die, and exits after the last one.
 */
export async function superviseWorkers(options: ServeOptions & { workers: number }): Promise<void> {
  const checked = await load(options);
  const { configuration } = checked;
  const stopped = untilStopped();
  const metrics = await measure(configuration);
  // The first worker starts alone: an error that keeps it from listening would hit all workers.
  const address = await Promise.race([begun(cluster.fork()), stopped]);
  if (address === 'died') {
    // The worker has printed the reason.
    await metrics?.close();
    process.exitCode = 1;
    return;
  }
  if (address) {
    onHangup(() => signalAll('SIGHUP'));
    const replacing = replaceTheDead(configuration);
    const others = Array.from({ length: options.workers - 1 }, () => begun(cluster.fork()));
    await Promise.race([Promise.all(others), stopped]);
    welcome(checked, address, await greeted(configuration), options.json);
    await Promise.race([stopped, replacing.outdated]);
    replacing.stop();
  }
  signalAll('SIGTERM');
  await lastExit();
  await metrics?.close();
}

/** Serves the metrics of all workers. */
async function measure(configuration: Configuration): Promise<MetricsServer | undefined> {
  if (!configuration.metrics) return undefined;
  const { log } = createLog(configuration.log_level);
  try {
    return await serveMetrics(configuration.metrics, await readWorkers(), log);
  } catch (error) {
    throw listenFault(error, configuration.metrics, 'metrics: in gateway.yaml');
  }
}

function begun(worker: Worker): Promise<Address | 'died'> {
  return new Promise((resolve) => {
    worker.once('listening', ({ address, port }) => resolve({ host: address, port }));
    worker.once('exit', () => resolve('died'));
  });
}

/** `outdated` resolves when a worker has found this version too old for the store. */
function replaceTheDead(configuration: Configuration): {
  outdated: Promise<void>;
  stop(): void;
} {
  const { log } = createLog(configuration.log_level, logStyle(configuration));
  let stopping = false;
  let resolveOutdated = (): void => undefined;
  const outdated = new Promise<void>((resolve) => (resolveOutdated = resolve));
  cluster.on('exit', ({ process: { pid } }, status: number, signal: string) => {
    if (stopping) return;
    if (status === OUTDATED_STATUS) {
      stopping = true;
      process.exitCode = OUTDATED_STATUS;
      resolveOutdated();
      return;
    }
    log.error({ pid, status, signal }, 'a worker died; another one takes its place');
    setTimeout(() => {
      if (!stopping) cluster.fork();
    }, RESTART_MS).unref();
  });
  return {
    outdated,
    stop: () => {
      stopping = true;
    },
  };
}

async function greeted(configuration: Configuration): Promise<Seeded | undefined> {
  const store = await openStore(configuration.store, { now: Date.now });
  try {
    return await seedStore(configuration, store);
  } finally {
    await store.close();
  }
}

function signalAll(signal: NodeJS.Signals): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
}

function lastExit(): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (Object.keys(cluster.workers ?? {}).length === 0) resolve();
    };
    cluster.on('exit', look);
    look();
  });
}
