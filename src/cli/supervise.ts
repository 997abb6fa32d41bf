import cluster, { type Worker } from 'node:cluster';
import { firstStart } from '../first-start.js';
import { sound } from '../gateway.js';
import { openStore } from '../store/open.js';
import type { ServeOptions } from './serve-here.js';
import { untilStopped } from './signals.js';
import { welcome } from './welcome.js';

/** A worker that dies sooner than this was never well, and is not started again at once. */
const RESTART_MS = 1_000;

/**
 * Runs several gateways that share one address and one store. This process takes the signals,
 * passes them on, replaces workers that die, and leaves when the last one has.
 */
export async function superviseWorkers(options: ServeOptions & { workers: number }): Promise<void> {
  const { configuration } = await sound(options.config, process.env);
  const store = await openStore(configuration.store, { now: Date.now });
  const first = await firstStart(configuration, store);
  await store.close();

  const stopped = untilStopped();
  let stopping = false;
  let restart: NodeJS.Timeout | undefined;
  const fork = (): Worker => cluster.fork();
  const allListening = listening(options.workers);
  for (let n = 0; n < options.workers; n += 1) fork();
  cluster.on('exit', () => {
    if (!stopping) restart = setTimeout(fork, RESTART_MS);
  });
  process.on('SIGHUP', () => signalAll('SIGHUP'));

  const address = await Promise.race([allListening, stopped]);
  if (address) welcome(configuration, address, first);
  await stopped;
  stopping = true;
  clearTimeout(restart);
  signalAll('SIGTERM');
  await lastExit();
}

function listening(count: number): Promise<{ host: string; port: number }> {
  return new Promise((resolve) => {
    let ready = 0;
    cluster.on('listening', (_worker, { address, port }) => {
      ready += 1;
      if (ready === count) resolve({ host: address, port });
    });
  });
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
