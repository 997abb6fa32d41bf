import { readdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nameHint } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type {
  LocalUpstream,
  Provider,
  ProviderOperation,
  RequestSigner,
} from '../core/provider.js';
import type { ErrorReader } from '../core/upstream-error.js';
import type { PriceTerms } from './price-terms.js';
import type { ProviderManifest } from '../schema-types/provider.js';

/** A manifest with its adapters loaded; parts of it may be missing where it has faults. */
export interface Manifest {
  source: Source;
  data: PartialLoad<ProviderManifest>;
  operations: ReadonlyMap<string, ProviderOperation>;
  read_error: ErrorReader | undefined;
  answer: LocalUpstream['answer'] | undefined;
  sign: RequestSigner | undefined;
  /** The settings that its adapters read; undefined where that is unknown. */
  settings: readonly string[] | undefined;
}

/** A provider entry joined with its manifest, as far as both could be read. */
export interface ReadProvider {
  provider: Provider;
  manifest: Manifest;
  /** The price of its models that have none of their own, and the discount that it gives. */
  price?: PriceTerms;
  discount: bigint;
}

/** The folder of the gateway's own adapters: beside `src/`, compiled or not, like this file. */
const BUILT_IN = new URL('../../providers/', import.meta.url);

/**
 * Imports the module that a manifest names: one of the gateway's own adapters, or a file of the
 * operator, `./codec.js`, beside the manifest. Undefined, and a fault, if it cannot be loaded.
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
    // A part of an adapter, `NAME-PART`, is not an adapter itself.
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

let built_in: Promise<string[]> | undefined;

/** The names of the gateway's own adapters, read once. */
function builtIn(): Promise<string[]> {
  built_in ??= readBuiltIn();
  return built_in;
}

async function readBuiltIn(): Promise<string[]> {
  const files = await readdir(BUILT_IN);
  const names = files.flatMap((file) => /^([a-z0-9-]+)\.[jt]s$/.exec(file)?.[1] ?? []);
  return [...new Set(names)];
}

/** The lists of names that adapters export beside their codecs. */
type NameList = 'wire_flags' | 'settings';

/** The adapters of one manifest, with the flags and settings that they read. */
export class Adapters {
  readonly #source: Source;
  readonly #manifest: string;
  readonly #names: Record<NameList, Set<string>>;
  /** False if an adapter could not be read: then the names that it reads are unknown. */
  #areAllRead = true;

  /** `wire_flags` are the flags that the gateway itself reads, for every manifest. */
  constructor(source: Source, manifest: string, wire_flags: readonly string[]) {
    this.#source = source;
    this.#manifest = manifest;
    this.#names = { wire_flags: new Set(wire_flags), settings: new Set() };
  }

  /** An export of an adapter. If `isPart` refuses it: undefined, and a fault at `pointer`. */
  async importPart<Part>(
    pointer: string,
    name: string | undefined,
    wanted: string,
    isPart: (value: unknown) => value is Part,
  ): Promise<Part | undefined> {
    const adapter =
      name === undefined
        ? undefined
        : await importAdapter(this.#source, pointer, name, this.#manifest);
    if (!adapter) {
      // A codec that could not be read may read further names.
      if (this.#source.has(pointer)) this.#areAllRead = false;
      return undefined;
    }
    this.#readNames(pointer, adapter);
    const part = adapter[wanted];
    if (isPart(part)) return part;
    const message = `the adapter ${this.#source.word(pointer)} exports no ${quote(wanted)}`;
    this.#source.fault(pointer, { code: 'broken_adapter', message });
    return undefined;
  }

  /** The settings that the adapters read; undefined where an adapter could not be read. */
  get settings(): readonly string[] | undefined {
    return this.#areAllRead ? [...this.#names.settings] : undefined;
  }

  /** The wire flags that the adapters read; undefined where an adapter could not be read. */
  get wire_flags(): readonly string[] | undefined {
    return this.#areAllRead ? [...this.#names.wire_flags] : undefined;
  }

  #readNames(pointer: string, adapter: Record<string, unknown>): void {
    for (const list of ['wire_flags', 'settings'] as const) {
      const names = adapter[list] ?? [];
      if (isListOfText(names)) {
        for (const name of names) this.#names[list].add(name);
        continue;
      }
      this.#areAllRead = false;
      const word = this.#source.word(pointer);
      const message = `the adapter ${word} exports ${quote(list)}, which is no list of names`;
      this.#source.fault(pointer, { code: 'broken_adapter', message });
    }
  }
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

/** Refuses each key of a block that no adapter reads, with the nearest known name. */
export function checkNames(
  source: Source,
  pointer: string,
  kind: 'wire flag' | 'setting',
  known: readonly string[] | undefined,
): void {
  if (known === undefined) return;
  for (const name of source.keys(pointer) ?? []) {
    if (known.includes(name)) continue;
    const message = `unknown ${kind} ${quote(name)}`;
    const hint = nameHint(name, known);
    source.fault(pointer + join(name), { code: 'unknown_key', message, hint, at: 'key' });
  }
}
