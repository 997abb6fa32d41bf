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

export interface CheckResult {
  /** Errors and warnings, in the order of the file. */
  faults: ConfigFault[];
  /** Undefined if a fault is an error. */
  configuration: Configuration | undefined;
  stages: ReadonlyMap<string, Stage>;
}

/**
 * Reads gateway.yaml and every file that it names, and returns all faults. Writes nothing and
 * contacts nothing. Throws `Unreadable` if the file cannot be read.
 */
export async function check(
  file: string,
  env: NodeJS.ProcessEnv | undefined,
): Promise<CheckResult> {
  const { faults, configuration, endpoints } = await load(file, env, MODALITIES);
  const { stages, faults: pluginFaults } = await stagesFor(
    file,
    endpoints,
    builtInStages(MODALITIES),
  );
  // A plugin that could not be loaded is also an unknown stage: one fault is enough.
  const pipelineFaults = checkPipelines(endpoints, stages).filter(
    (fault) => !pluginFaults.some((known) => byPlace(known, fault) === 0),
  );
  const all = inOrder([...faults, ...pluginFaults, ...pipelineFaults], file);
  const isValid = all.every(({ severity }) => severity === 'warning');
  return { faults: all, configuration: isValid ? configuration : undefined, stages };
}

/** Checks the file and throws `ConfigError` unless it is valid. */
export async function checkOrThrow(file: string, env: NodeJS.ProcessEnv): Promise<ValidCheck> {
  const checked = await check(file, env);
  const { configuration } = checked;
  if (!configuration) throw new ConfigError(checked.faults);
  return { ...checked, configuration };
}

export type ValidCheck = CheckResult & { configuration: Configuration };
