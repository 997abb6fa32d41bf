import { readdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nameHint } from '../yaml/did-you-mean.js';
import { quote, type Source } from '../yaml/source.js';

/** The adapters that come with the gateway: beside `src/`, compiled or not, like this file. */
const BUILT_IN = new URL('../../providers/', import.meta.url);

/**
 * The module that a manifest names: one of the gateway's own adapters, or a file of the operator's,
 * `./codec.js`, beside the manifest. Undefined, and a fault, where it cannot be loaded.
 */
async function importAdapter(
  source: Source,
  pointer: string,
  name: string,
  manifest: string,
): Promise<Record<string, unknown> | undefined> {
  const own = /^\.{1,2}\//.test(name);
  if (!own && !(await builtIn()).includes(name)) {
    const message = `no adapter is called ${source.word(pointer)}`;
    const names = await builtIn();
    // The parts of an adapter, `NAME-PART`, are no adapters themselves.
    const whole = names.filter((one) => !names.some((other) => one.startsWith(`${other}-`)));
    const hint = nameHint(name, whole);
    source.fault(pointer, { code: 'unknown_adapter', message, hint });
    return undefined;
  }
  const file = own
    ? pathToFileURL(resolve(dirname(manifest), name))
    : new URL(`${name}.js`, BUILT_IN);
  try {
    if (own && !(await stat(file)).isFile()) throw new Error('it is no regular file');
    return (await import(file.href)) as Record<string, unknown>;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/(\n| imported from )[^]*/, '') : '';
    const message = `the adapter ${source.word(pointer)} cannot be loaded`;
    source.fault(pointer, {
      code: 'broken_adapter',
      message,
      hint: source.hides(pointer) ? '' : why,
    });
    return undefined;
  }
}

async function builtIn(): Promise<string[]> {
  const files = await readdir(BUILT_IN);
  const names = files.flatMap((file) => /^([a-z0-9-]+)\.[jt]s$/.exec(file)?.[1] ?? []);
  return [...new Set(names)];
}

/** An export of an adapter, or undefined and a fault where it is none that is wanted. */
export async function importPart<Part>(
  source: Source,
  manifest: string,
  pointer: string,
  name: string | undefined,
  wanted: string,
  isPart: (value: unknown) => value is Part,
): Promise<Part | undefined> {
  if (name === undefined) return undefined;
  const adapter = await importAdapter(source, pointer, name, manifest);
  if (!adapter) return undefined;
  const part = adapter[wanted];
  if (isPart(part)) return part;
  const message = `the adapter ${source.word(pointer)} exports no ${quote(wanted)}`;
  source.fault(pointer, { code: 'broken_adapter', message });
  return undefined;
}
