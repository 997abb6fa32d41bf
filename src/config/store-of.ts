import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isRecord } from '../is-record.js';
import { FaultyConfiguration } from './faulty.js';
import { parse } from './parse.js';
import { Report } from './report.js';
import { STANDARD_STORE } from './settings.js';
import { readStoreUrl } from './store-url.js';
import { unreadable } from './unreadable.js';

/**
 * The store that gateway.yaml names, for commands that need no more of it: they must work in a
 * shell that does not have the service's secrets. Throws `Unreadable` or `FaultyConfiguration`.
 */
export async function storeOf(file: string, env: NodeJS.ProcessEnv): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error);
  });
  const report = new Report();
  const directory = dirname(resolve(file));
  const source = parse(file, text, report, { env, directory });
  const written = isRecord(source.value) ? source.value['store'] : undefined;
  const store = readStoreUrl(
    source,
    typeof written === 'string' ? written : STANDARD_STORE,
    directory,
  );
  const { line } = source.place('/store');
  const faults = report.sorted(file).filter((fault) => !source.readable || fault.line === line);
  if (
    !source.readable ||
    source.spoiled.has('/store') ||
    faults.some(({ code }) => code === 'bad_store')
  )
    throw new FaultyConfiguration(faults);
  return store;
}
