import cluster from 'node:cluster';
import { seedStore } from '../gateway/seed.js';
import { Gateway } from '../gateway/gateway.js';
import { createLog, type Log } from '../telemetry/log.js';
import { SharedClock } from '../lib/shared-clock.js';
import type { Logger } from 'pino';
import type { Configuration } from '../core/configuration.js';
import { serveMetrics, type MetricsServer } from '../gateway/metrics-server.js';
import { withAudit } from './audit-reload.js';
import { ConfigFiles, followFiles } from './follow-files.js';
import { commandIo } from './command-io.js';
import { answerParent } from './worker-metrics.js';
import { listenFault, type Address } from './listen.js';
import { load, type ServeOptions } from './load.js';
import { reload } from './reload.js';
import { untilStopped } from './signals.js';
import { WaitEnded } from '../store/store-error.js';
import { logStyle } from './terminal.js';
import { welcome } from './welcome.js';

/** The exit status of a `serve` that ends because the store needs a newer version. */
export const OUTDATED_STATUS = 3;

/** Runs one gateway in this process, until a signal stops it or it is too old for the store. */
export async function serveHere(options: ServeOptions): Promise<void> {
  try {
    await serveUntilStopped(options);
  } finally {
    // A worker does not end while it is connected to its parent.
    cluster.worker?.disconnect();
  }
}

async function serveUntilStopped(options: ServeOptions): Promise<void> {
  const stopped = untilStopped();
  const files = new ConfigFiles(options.config);
  const stamp = await files.stamp();
  const checked = await load(options);
  const { log, lines } = openLog(checked.configuration);
  const clock = new SharedClock(Date.now());
  const has_workers = cluster.isWorker;
  const parts = { log, lines, now: Date.now, clock, random: Math.random, has_workers, stopped };
  const gateway = await openGateway(checked, parts);
  if (!gateway) return endProcess(log);
  const address = await listen(gateway);
  const metrics = await measure(gateway, log);
  // With workers, the parent process prints the welcome.
  if (cluster.isPrimary) {
    const first = await seedStore(checked.configuration, gateway.store);
    welcome(checked, address, first, options.json);
  }
  const unfollow = followFiles(files, stamp, () =>
    withAudit(gateway, log, () => reload(gateway, options, log)),
  );
  await Promise.race([
    stopped,
    gateway.outdated.then(() => (commandIo().exit_status = OUTDATED_STATUS)),
  ]);
  unfollow();
  log.info('stopping: no new requests, running answers finish');
  const isClosed = await gateway.stop();
  await metrics?.close();
  if (!isClosed) return endProcess(log);
  log.flush();
}

/** Ends what still waits for the store: it would keep the process alive. */
function endProcess(log: Logger): void {
  log.flush();
  if (isOwnProcess()) process.exit();
}

/** Undefined if it was stopped while it waited for the store or for older boxes. */
async function openGateway(
  ...[checked, options]: Parameters<typeof Gateway.open>
): Promise<Gateway | undefined> {
  try {
    return await Gateway.open(checked, options);
  } catch (error) {
    if (!(error instanceof WaitEnded)) throw error;
    options.log.info(`stopping: ${error.message}`);
    return undefined;
  }
}

function openLog(configuration: Configuration): Log {
  const { stderr, env } = commandIo();
  const style = logStyle(configuration, stderr, env);
  if (!isOwnProcess()) {
    const lines = { write: (line: string) => void stderr.write(line), flush: () => undefined };
    return createLog(configuration.log_level, style, lines);
  }
  const made = createLog(configuration.log_level, style);
  // An unhandled rejection in an operator's own stage must not end all requests.
  process.on('unhandledRejection', (err) =>
    made.log.error({ err }, 'nobody waited for what failed'),
  );
  return made;
}

/** Whether the process ends with the command. */
function isOwnProcess(): boolean {
  return commandIo().stopped === undefined;
}

async function listen(gateway: Gateway): Promise<Address> {
  try {
    return await gateway.listen();
  } catch (error) {
    await gateway.stop();
    throw listenFault(error, gateway.configuration.listen);
  }
}

/** Serves metrics. A worker sends its metrics to the parent process, which serves them. */
async function measure(gateway: Gateway, log: Logger): Promise<MetricsServer | undefined> {
  const { views, configuration } = gateway;
  const { metrics } = views;
  if (!metrics || !configuration.metrics) return undefined;
  if (cluster.isWorker) {
    answerParent(metrics);
    return undefined;
  }
  try {
    return await serveMetrics(configuration.metrics, () => metrics.text(), log);
  } catch (error) {
    await gateway.stop();
    throw listenFault(error, configuration.metrics, 'metrics: in gateway.yaml');
  }
}
