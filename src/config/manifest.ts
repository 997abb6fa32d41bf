import { readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { packageRoot } from '../lib/package-root.js';
import type { LocalUpstream, ProviderOperation } from '../core/provider.js';
import { Adapters, checkNames, type Manifest } from './adapter.js';
import { checkChanges, checkPassthrough } from './fields.js';
import type { ManifestReader, Modalities } from '../pipeline/modality.js';
import { compileErrors } from '../mapping/errors.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { MISPLACED_KEY } from '../yaml/key-hints.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { isKey } from '../yaml/secrets.js';
import { quote, type Source } from '../yaml/source.js';
import { readShippedFacts, type Shipped } from './shipped.js';
import { importSigner } from './signer.js';
import { manifestKnownAs } from './init-providers.js';
import { validate } from '../yaml/validate.js';

const NO_ADAPTERS = {
  operations: new Map(),
  read_error: undefined,
  answer: undefined,
  sign: undefined,
  settings: undefined,
};

/**
 * Wire flags that the gateway itself reads, for every codec: the hosts of results, whether the
 * price of a cache write covers a cache of an hour, and whether the wire has service tiers.
 */
const GATEWAY_FLAGS = ['image_hosts', 'key_hosts', 'cache_hour', 'service_tiers'];

type Found = { content: string } | 'missing' | 'unreadable';

/** Finds manifests by name or path and reads each of them once. */
export class Manifests {
  readonly #source: Source;
  readonly #env: NodeJS.ProcessEnv | undefined;
  readonly #read = new Map<string, Promise<Manifest>>();
  #all_shipped: Promise<readonly Shipped[]> | undefined;

  constructor(
    source: Source,
    env: NodeJS.ProcessEnv | undefined,
    readonly modalities: Modalities,
  ) {
    this.#source = source;
    this.#env = env;
  }

  /**
   * `./path.yaml` beside the operator's file; or a name, looked for in `providers/` beside that
   * file and then among the gateway's own. Where none is found, undefined and a fault at `pointer`.
   */
  async find(uses: string, pointer: string, at: 'key' | 'value'): Promise<Manifest | undefined> {
    for (const file of this.#candidates(uses)) {
      const known = this.#read.get(file);
      if (known) return known;
      const text = await this.#text(file, pointer, at);
      if (text === 'missing') continue;
      if (text === 'unreadable') return undefined;
      // Another entry may have asked for the same file meanwhile.
      const manifest = this.#read.get(file) ?? this.#load(file, text.content);
      this.#read.set(file, manifest);
      return manifest;
    }
    // Left out, `uses` is the entry's own name, which is no value of the file.
    const word = at === 'key' ? quote(uses) : this.#source.word(pointer);
    const message = `no manifest ${isPath(uses) ? 'stands at' : 'is called'} ${word}`;
    const shown = this.#source.hides(pointer) ? '' : uses;
    const near = isPath(uses) ? NO_FILE : await this.#hint(shown, at);
    const hint = isKey(shown) ? MISPLACED_KEY : near;
    this.#source.fault(pointer, { code: 'unknown_manifest', message, hint, at });
    return undefined;
  }

  /**
   * The shipped manifest whose customary variable a name is, such as `acme` for `ACME_API_KEY`.
   * Only the manifest that the name begins with is looked at.
   */
  async ownerOfVariable(variable: string): Promise<string | undefined> {
    const [name = ''] = variable.toLowerCase().split('_');
    const file = join(packageRoot, 'providers', `${name}.yaml`);
    const text = await readRegular(file).catch(() => '');
    const start = text.search(/^init:$/m);
    const isOwn = start >= 0 && new RegExp(`\\b${variable}\\b`).test(text.slice(start));
    return isOwn ? name : undefined;
  }

  /** The shipped manifest whose keys begin as a key does. */
  async ownerOfKey(key: string): Promise<Shipped | undefined> {
    const begins = (prefix: string): boolean => key.startsWith(prefix);
    return (await this.#shipped()).find(({ key_prefixes }) => key_prefixes.some(begins));
  }

  /** The shipped manifest whose address is at a host, and its codec of chat. */
  async ownerOfHost(host: string): Promise<Shipped | undefined> {
    return (await this.#shipped()).find((one) => one.host === host);
  }

  /** What the texts of all shipped manifests say, read at the first need. */
  #shipped(): Promise<readonly Shipped[]> {
    this.#all_shipped ??= readShippedFacts();
    return this.#all_shipped;
  }

  /** The files to try, in order. The first begins like the path of gateway.yaml, for messages. */
  #candidates(uses: string): string[] {
    const beside = dirname(this.#source.file);
    if (isPath(uses)) return [isAbsolute(uses) ? uses : join(beside, uses)];
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(uses)) return [];
    return this.#folders().map((folder) => join(folder, `${uses}.yaml`));
  }

  #folders(): string[] {
    return [join(dirname(this.#source.file), 'providers'), join(packageRoot, 'providers')];
  }

  async #text(file: string, pointer: string, at: 'key' | 'value'): Promise<Found> {
    try {
      return { content: await readRegular(file) };
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'missing';
      const message = 'this manifest is a file that cannot be read';
      this.#source.fault(pointer, { code: 'unreadable_manifest', message, at });
      return 'unreadable';
    }
  }

  async #load(file: string, text: string): Promise<Manifest> {
    const directory = dirname(resolve(file));
    const context = { env: this.#env, directory, hasPaths: true, schema: 'provider' } as const;
    const source = parse(file, text, this.#source.report, context);
    if (!source.readable) return { source, data: {}, ...NO_ADAPTERS };
    const data = validate(source, 'provider');
    checkPaths(source, data);
    checkAuthHeader(source, data);
    const renames = [data.rename ?? {}];
    checkPassthrough(source, '/passthrough', data.passthrough ?? [], renames, this.modalities);
    const changes = { drop: data.drop ?? [], rename: data.rename ?? {}, set: {} };
    checkChanges(source, '', changes, this.modalities, [data.passthrough ?? []]);
    const adapters = new Adapters(source, file, GATEWAY_FLAGS);
    const operations = await this.#operations(source, data, adapters);
    const read_error = compileErrors(source, data.errors);
    const answer = await adapters.importPart('/in_process', data.in_process, 'answer', isAnswer);
    const sign = await importSigner(source, data.auth, adapters);
    checkNames(source, '/wire', 'wire flag', adapters.wire_flags);
    checkNames(source, '/settings', 'setting', adapters.settings);
    const { settings } = adapters;
    return { source, data, operations, read_error, answer, sign, settings };
  }

  async #operations(source: Source, data: Manifest['data'], adapters: Adapters) {
    const reader: ManifestReader = {
      source,
      data,
      importPart: (...part) => adapters.importPart(...part),
    };
    const read = [...this.modalities.values()].map(async ({ name, configuration }) => {
      return [name, await configuration.manifest.read(reader)] as const;
    });
    const operations = new Map<string, ProviderOperation>();
    for (const [name, operation] of await Promise.all(read)) {
      if (operation) operations.set(name, operation);
    }
    return operations;
  }

  /** A near name comes first. Most providers without a manifest speak OpenAI's wire format. */
  async #hint(uses: string, at: 'key' | 'value'): Promise<string> {
    if (uses.includes('/')) return `did you mean "./${uses}"?`;
    const names = await this.#names();
    const same = names.find((name) => name.toLowerCase() === uses.toLowerCase());
    const near = same ?? (await manifestKnownAs(uses)) ?? nearestWord(uses, names);
    const isImplied = at === 'key';
    if (near !== undefined && isImplied && isMissing(this.#source, near))
      return `rename this entry to ${quote(near)}, as the upstreams call it`;
    if (near !== undefined) return `did you mean ${isImplied ? `uses: ${near}` : quote(near)}?`;
    const reach = '"uses: openai-compatible" with a base_url reaches others of that wire';
    return isImplied ? `say which manifest it uses: ${reach}` : reach;
  }

  async #names(): Promise<string[]> {
    const folders = this.#folders().map((folder) => readdir(folder).catch(() => []));
    const files = (await Promise.all(folders)).flat();
    return files.flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? []);
  }
}

/** Reports a path that is a whole address. */
function checkPaths(source: Source, { operations = {} }: Manifest['data']): void {
  for (const [name, operation] of Object.entries(operations)) {
    const place = `/operations/${name}/path`;
    const { path } = (operation ?? {}) as { path?: unknown };
    if (typeof path !== 'string') continue;
    const [, rest] = /^https?:\/\/[^/]+(.*)$/i.exec(path) ?? [];
    if (rest === undefined) continue;
    const message = `path: ${source.word(place)} is a whole address, and base_url stands before it`;
    source.fault(place, { code: 'wrong_value', message, hint: `write ${rest}` });
  }
}

/** Reports the name of a header together with its value, `Authorization: Bearer`. */
function checkAuthHeader(source: Source, { auth }: Manifest['data']): void {
  const header = typeof auth === 'object' ? auth.header : undefined;
  const [, name, prefix] = /^([\w-]+)\s*[:\s]\s*(\w*)$/.exec(header ?? '') ?? [];
  if (name === undefined) return;
  const isBearer = /^authorization$/i.test(name) && /^bearer$/i.test(prefix ?? '');
  const form = prefix === '' ? `header: ${name}` : `header: ${name}, prefix: '${prefix} '`;
  const message = `auth.header: ${source.word('/auth/header')} is no header name`;
  const hint = isBearer ? 'write auth: bearer' : `write auth: { ${form} }`;
  source.fault('/auth/header', { code: 'bad_header', message, hint });
}

const NO_FILE = 'a path is relative to the folder of gateway.yaml';

/** Whether upstreams name a provider that has no entry. */
function isMissing(source: Source, name: string): boolean {
  if (source.keys('/providers')?.includes(name) === true) return false;
  let isNamed = false;
  source.eachMark((pointer, { text }) => {
    if (text === name && /^\/models\/[^/]+\/upstreams\/\d+\/provider$/.test(pointer))
      isNamed = true;
  });
  return isNamed;
}

function isAnswer(value: unknown): value is LocalUpstream['answer'] {
  return typeof value === 'function';
}

function isPath(uses: string): boolean {
  return /^\.{0,2}\//.test(uses);
}
