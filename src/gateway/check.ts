import { ADVICE, advise } from '../advice/index.js';
import { UNUSED_PERMISSION, withoutAllowed } from '../advice/permissions.js';
import { ConfigError } from '../config/config-error.js';
import { load, type FinishedFile } from '../config/load.js';
import type { Configuration } from '../core/configuration.js';
import { checkPipelines, withTraits } from '../pipeline/type-check.js';
import type { Stage } from '../pipeline/stage.js';
import { reportUnreached } from './reached-models.js';
import { stagesFor } from '../pipeline/plugins.js';
import { MODALITIES } from '../modalities/index.js';
import { builtInStages } from '../stages/index.js';
import { hideSecrets } from '../yaml/secrets.js';
import { segments, type Source } from '../yaml/source.js';
import { byPlace, sortFaults } from '../yaml/report.js';
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
 * contacts nothing. Without `env` every variable is taken as set; with `isNeeded` those at the JSON
 * pointers that it denies are. Warnings with the codes of `allow` are accepted, as are those that
 * a comment of the file allows. With `now_ms` models that end are told too.
 * Throws `Unreadable` if the file cannot be read.
 */
export async function check(
  file: string,
  env: NodeJS.ProcessEnv | undefined,
  isNeeded?: (pointer: string) => boolean,
  allow: readonly string[] = [],
  now_ms?: number,
): Promise<CheckResult> {
  const loaded = await load(file, env, MODALITIES, isNeeded);
  const { configuration, endpoints, read, finished } = loaded;
  const { stages, faults: pluginFaults } = await stagesFor(
    file,
    endpoints,
    builtInStages(MODALITIES),
  );
  // A plugin that could not be loaded is also an unknown stage: one fault is enough.
  const pipelineFaults = checkPipelines(endpoints, stages).filter(
    (fault) => !pluginFaults.some((known) => byPlace(known, fault) === 0),
  );
  const described = withTraits(endpoints, stages);
  if (read) reportUnreached(read, described, MODALITIES);
  const faults = read?.source.report.sorted(file) ?? loaded.faults;
  const found = [...faults, ...[...pluginFaults, ...pipelineFaults].map(withoutSecrets)];
  const isValid = found.every(({ severity }) => severity === 'warning');
  if (!finished || !configuration || !isValid)
    return { faults: sortFaults(found, file), configuration: undefined, stages };
  const warnings = await advise({ ...finished, now_ms });
  const left = await withoutAllowed(warnings, sourcesOf(finished), allow, CODES);
  const whole = { ...configuration, endpoints: described };
  return { faults: sortFaults(left, file), configuration: whole, stages };
}

const CODES = [...new Set([...ADVICE.map(({ code }) => code), UNUSED_PERMISSION])];

/** The files that hold the configuration: gateway.yaml first. */
function sourcesOf({ source, providers }: FinishedFile): Source[] {
  const manifests = [...providers.values()].map(({ manifest }) => manifest.source);
  return [...new Set([...source.parts, ...manifests])];
}

function withoutSecrets(fault: ConfigFault): ConfigFault {
  const { message, hint } = fault;
  return { ...fault, message: hideSecrets(message, ''), hint: hideSecrets(hint, '') };
}

/** Checks the file and throws `ConfigError` unless it is valid. */
export async function checkOrThrow(
  file: string,
  env: NodeJS.ProcessEnv,
  isNeeded?: (pointer: string) => boolean,
): Promise<ValidCheck> {
  const checked = await check(file, env, isNeeded);
  const { configuration } = checked;
  if (!configuration) throw new ConfigError(checked.faults);
  return { ...checked, configuration };
}

/** The parts of the file that a command reads to show or call single upstreams. */
const SHARED_PARTS = ['include', 'owners', 'models', 'endpoints', 'limits'];

/**
 * Checks the file for a command that uses only the upstreams of some providers. `usedBy` names
 * them. The variables and files of other providers, and of the settings of `serve`, may be unset.
 * Throws `ConfigError` unless the rest is valid.
 */
export async function checkForProviders(
  file: string,
  env: NodeJS.ProcessEnv,
  usedBy: (configuration: Configuration) => readonly string[],
): Promise<ValidCheck> {
  const { configuration } = await check(file, undefined);
  if (!configuration) return checkOrThrow(file, env);
  const used = new Set(usedBy(configuration));
  return checkOrThrow(file, env, (pointer) => {
    const [part = '', name = ''] = segments(pointer);
    return part === 'providers' ? used.has(name) : SHARED_PARTS.includes(part);
  });
}

/** A check that found no error. */
export type ValidCheck = CheckResult & { configuration: Configuration };
