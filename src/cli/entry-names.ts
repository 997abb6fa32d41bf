import { normalize } from 'node:path';
import { environmentOf } from './environment.js';

/**
 * The IDs of the models of a configuration: those of its own file, then those of the files that it
 * includes. Throws `Unreadable` or `ConfigError`.
 */
export async function modelIds(config: string): Promise<string[]> {
  const { modelIdsOf } = await import('../config/single-settings.js');
  return inAllFiles(config, modelIdsOf);
}

/** The names of the provider entries in the same order. Throws likewise. */
export async function providerNames(config: string): Promise<string[]> {
  const { providerNamesOf } = await import('../config/single-settings.js');
  return inAllFiles(config, providerNamesOf);
}

type NamesOf = (file: string, env: NodeJS.ProcessEnv) => Promise<readonly string[]>;

async function inAllFiles(config: string, namesOf: NamesOf): Promise<string[]> {
  const { patternsIn, watchedBy } = await import('../config/include.js');
  const env = environmentOf(config);
  const { files } = await watchedBy(config, await patternsIn(config));
  const names = new Set(await namesOf(config, env));
  for (const file of files) {
    if (normalize(file) === normalize(config)) continue;
    for (const name of await namesOf(file, env)) names.add(name);
  }
  return [...names];
}
