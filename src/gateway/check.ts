import { ConfigError } from '../config/config-error.js';
import { load } from '../config/load.js';
import type { Configuration } from '../core/configuration.js';
import { checkPipelines } from '../pipeline/type-check.js';
import type { Stage } from '../pipeline/stage.js';
import { stagesFor } from '../pipeline/plugins.js';
import { MODALITIES } from '../modalities/index.js';
import { builtInStages } from '../stages/index.js';
import { byPlace, inOrder } from '../yaml/report.js';
import type { ConfigFault } from '../core/config-fault.js';

export interface Checked {
  /** In the order of the file; warnings too. */
  faults: ConfigFault[];
  /** Undefined where a fault is an error. */
  configuration: Configuration | undefined;
  stages: ReadonlyMap<string, Stage>;
}

/**
 * Reads gateway.yaml and everything it names, and says all that is wrong. Writes nothing, contacts
 * nothing. Throws `Unreadable` where there is no file to read.
 */
export async function check(file: string, env: NodeJS.ProcessEnv | undefined): Promise<Checked> {
  const { faults, configuration, endpoints } = await load(file, env, MODALITIES);
  const { stages, faults: pluginFaults } = await stagesFor(
    file,
    endpoints,
    builtInStages(MODALITIES),
  );
  // A stage that could not be loaded is unknown too, which need not be said again.
  const inspected = checkPipelines(endpoints, stages).filter(
    (fault) => !pluginFaults.some((told) => byPlace(told, fault) === 0),
  );
  const all = inOrder([...faults, ...pluginFaults, ...inspected], file);
  const sound = all.every(({ severity }) => severity === 'warning');
  return { faults: all, configuration: sound ? configuration : undefined, stages };
}

/** Checks the file and throws `ConfigError` unless it is valid. */
export async function sound(file: string, env: NodeJS.ProcessEnv): Promise<Sound> {
  const checked = await check(file, env);
  const { configuration } = checked;
  if (!configuration) throw new ConfigError(checked.faults);
  return { ...checked, configuration };
}

export type Sound = Checked & { configuration: Configuration };
