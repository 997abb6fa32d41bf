import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { firstStart } from '../gateway/seed.js';
import { ConfigError } from '../config/config-error.js';
import { Gateway } from '../gateway/gateway.js';
import { createLog } from '../telemetry/log.js';
import { sentence } from './command.js';
import { followFile, stampOf } from './follow-file.js';
import { listenFault, type Address } from './listen.js';
import { load, type ServeOptions } from './load.js';
import { untilStopped } from './signals.js';
import { welcome } from './welcome.js';

/** Runs one gateway in this process, until a signal stops it. */
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
  const stamp = await stampOf(options.config);
  const checked = await load(options);
  const { log, lines } = createLog(checked.configuration.log_level);
  // An unhandled rejection in an operator's own stage must not end all requests.
  process.on('unhandledRejection', (err) => log.error({ err }, 'nobody waited for what failed'));
  const gateway = await Gateway.open(checked, { log, lines, now: Date.now, random: Math.random });
  const address = await listen(gateway);
  // With workers, the parent process prints the welcome.
  if (cluster.isPrimary) {
    welcome(checked.configuration, address, await firstStart(checked.configuration, gateway.store));
  }
  const unfollow = followFile(options.config, stamp, () => reload(gateway, options, log));
  await stopped;
  unfollow();
  log.info('stopping: no new requests, running answers finish');
  await gateway.stop();
  log.flush();
}

async function listen(gateway: Gateway): Promise<Address> {
  try {
    return await gateway.listen();
  } catch (error) {
    await gateway.stop();
    throw listenFault(error, gateway.configuration.listen);
  }
}

async function reload(gateway: Gateway, options: ServeOptions, log: Logger): Promise<void> {
  try {
    gateway.reload(await load(options));
    log.info('took up the changed configuration');
  } catch (error) {
    const faults = error instanceof ConfigError ? error.faults : [];
    const [fault] = faults.filter(({ severity }) => severity === 'error');
    // The probe needs no key, so it shows the place of the fault and no text of the file.
    gateway.refuseReload(fault ? `line ${fault.line}: ${fault.code}` : 'the file cannot be read');
    const reason = fault ? `line ${fault.line}: ${fault.message}` : sentence(error);
    log.error({ reason }, 'kept the older configuration: the changed one is not valid');
  }
}
