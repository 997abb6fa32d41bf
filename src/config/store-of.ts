import { dirname, resolve } from 'node:path';
import { isRecord } from '../lib/is-record.js';
import { ConfigError } from './config-error.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import type { Configuration } from '../core/configuration.js';
import { DEFAULT_STORE, journalFolder, readPublicUrl, LISTEN } from './settings.js';
import { readListen } from './listen-address.js';
import type { Source } from '../yaml/source.js';
import { readStoreUrl } from './store-url.js';
import { unreadable } from '../yaml/unreadable.js';

/**
 * The URL of the store, for commands that need nothing else of gateway.yaml. They work in a shell
 * without the secrets of the service. Throws `Unreadable` or `ConfigError`.
 */
export function storeOf(file: string, env: NodeJS.ProcessEnv): Promise<string> {
  return part(file, env, 'store', (source, written) =>
    readStoreUrl(source, written ?? DEFAULT_STORE, dirname(resolve(file))),
  );
}

/** The folder of the journal beside that store. Throws likewise. */
export function journalOf(file: string, env: NodeJS.ProcessEnv, store: string): Promise<string> {
  return part(file, env, 'journal', (_, written) =>
    journalFolder(dirname(resolve(file)), store, written),
  );
}

/** The address to listen on. Throws likewise. */
export function listenOf(file: string, env: NodeJS.ProcessEnv): Promise<Configuration['listen']> {
  return part(file, env, 'listen', (source, written) =>
    readListen(source, 'listen', written ?? `${LISTEN.host}:${LISTEN.port}`, LISTEN),
  );
}

/** The `public_url`, without a closing slash. Throws likewise. */
export function publicUrlOf(file: string, env: NodeJS.ProcessEnv): Promise<string> {
  return part(file, env, 'public_url', (source, written) => {
    const listen = isRecord(source.value) ? source.value['listen'] : undefined;
    return readPublicUrl(source, written, typeof listen === 'string' ? listen : undefined);
  });
}

/** The IDs of the models in the order of the file. Throws likewise. */
export function modelsOf(file: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  return part(file, env, 'models', (source) => source.keys('/models') ?? []);
}

/** The names of the provider entries in the order of the file. Throws likewise. */
export function providersOf(file: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  return part(file, env, 'providers', (source) => source.keys('/providers') ?? []);
}

/** Faults in other parts of the file do not matter here. */
async function part<T>(
  file: string,
  env: NodeJS.ProcessEnv,
  key: 'store' | 'public_url' | 'models' | 'providers' | 'journal' | 'listen',
  read: (source: Source, written: string | undefined) => T,
): Promise<T> {
  const text = await readRegular(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  const report = new Report();
  const pointer = `/${key}`;
  const source = parse(file, text, report, { env, directory: dirname(resolve(file)) });
  const written = isRecord(source.value) ? source.value[key] : undefined;
  const value = read(source, typeof written === 'string' ? written : undefined);
  const { line } = source.place(pointer);
  const faults = report.sorted(file).filter((fault) => !source.readable || fault.line === line);
  const isBad = faults.some(({ code }) => /^bad_(?:store|url|listen)$/u.test(code));
  if (!source.readable || source.spoiled.has(pointer) || isBad) {
    throw new ConfigError(faults);
  }
  return value;
}
