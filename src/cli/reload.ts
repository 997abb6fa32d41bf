import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.js';
import type { Configuration } from '../core/configuration.js';
import { differences } from '../gateway/differences.js';
import type { Gateway } from '../gateway/gateway.js';
import { sentence } from './command.js';
import { placeIn } from './fault-place.js';
import { load, type ServeOptions } from './load.js';
import { warningsText } from './welcome.js';

const MAX_CHANGES = 20;
const CHANGE_CHARACTERS = 200;

/** Reloads the configuration. One line of the log names the changes, or the fault of the file. */
export async function reload(gateway: Gateway, options: ServeOptions, log: Logger): Promise<void> {
  const before = gateway.configuration;
  let warnings: number;
  try {
    const checked = await load(options);
    gateway.reload(checked);
    warnings = checked.faults.length;
  } catch (error) {
    const faults = error instanceof ConfigError ? error.faults : [];
    const [fault] = faults.filter(({ severity }) => severity === 'error');
    const place = fault && placeIn(options.config, fault);
    // /readyz needs no key, so it shows the place and the code of the fault, and no text of the
    // file.
    const reason = fault ? `${place}: ${fault.message}` : sentence(error);
    const reported = fault ? `${place}: ${fault.code}` : 'the file cannot be read';
    gateway.refuseReload(reported, reason);
    log.error({ reason }, 'kept the older configuration: the changed one is not valid');
    return;
  }
  const changes = await changesOf(before, gateway.written).catch((err: unknown) => {
    log.warn({ err }, 'the changes of the configuration could not be told apart');
    return ['see the file'];
  });
  if (changes.length > 0) log.info({ changes }, 'took up the changed configuration');
  else log.info('took up the changed configuration: nothing changes for clients');
  if (warnings > 0) log.warn(warningsText(gateway.configuration, warnings));
}

/** At most `MAX_CHANGES` sentences. Changes that take something from clients come first. */
async function changesOf(before: Configuration, after: Configuration): Promise<string[]> {
  // An address may hold a secret of the environment.
  const found = await differences(before, after, { isReload: true });
  const sorted = found.sort((a, b) => Number(b.loses) - Number(a.loses));
  const texts = sorted.map(({ text }) =>
    text.length > CHANGE_CHARACTERS ? `${text.slice(0, CHANGE_CHARACTERS)}…` : text,
  );
  if (texts.length <= MAX_CHANGES) return texts;
  return [...texts.slice(0, MAX_CHANGES - 1), `and ${texts.length - MAX_CHANGES + 1} more`];
}
