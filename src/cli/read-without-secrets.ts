import { ConfigError } from '../config/config-error.js';
import type { Configuration } from '../core/configuration.js';

/** Reads a configuration with every variable and secret taken as set. Throws `ConfigError`. */
export async function readWithoutSecrets(file: string): Promise<Configuration> {
  const { check } = await import('../gateway/check.js');
  const { faults, configuration } = await check(file, undefined);
  if (configuration) return configuration;
  throw new ConfigError(faults);
}
