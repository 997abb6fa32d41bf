import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../lib/package-root.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import { validate } from '../yaml/validate.js';
import type { InitModel, ProviderManifest } from '../schema-types/provider.js';

/** The part of a shipped manifest that `tollgate init` reads. */
export interface InitProvider {
  /** The manifest's name, as `uses` has it. */
  manifest: string;
  /** Its display name. */
  title: string;
  base_url: string | undefined;
  /** Needs no upstream at all: it serves where nothing else is found. */
  in_process: boolean;
  /** The keys of the provider's entry, each with the variables that may hold it, best first. */
  variables: readonly (readonly [key: string, names: readonly string[]])[];
  /** Names of entries with the usual address of such a server on this machine. */
  local: readonly (readonly [name: string, base_url: string])[];
  /** Model IDs of the provider with their entries for gateway.yaml. */
  models: readonly (readonly [id: string, model: InitModel])[];
}

/** The shipped manifests that have a block `init`, by name. Throws where one has a fault. */
export async function readInitProviders(): Promise<InitProvider[]> {
  const folder = join(packageRoot, 'providers');
  const names = (await readdir(folder))
    .flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? [])
    .sort();
  const providers = await Promise.all(names.map((name) => readStarter(folder, name)));
  return providers.flatMap((provider) => provider ?? []);
}

/** The manifest whose models, variables or title begin with a word: `claude`, `google`, `hf`. */
export async function manifestKnownAs(word: string): Promise<string | undefined> {
  const [first = ''] = word.toLowerCase().split(/[\s_.-]/);
  if (first.length < 2 || first !== word.toLowerCase()) return undefined;
  const all = await readInitProviders();
  const known = [
    ({ models }: InitProvider) => models.map(([id]) => id),
    ({ variables }: InitProvider) => variables.flatMap(([, names]) => names),
    ({ title }: InitProvider) => [title],
  ];
  for (const names of known) {
    const found = all.filter((one) => names(one).some((name) => firstWord(name) === first));
    const [one, two] = found.toSorted((a, b) => a.variables.length - b.variables.length);
    if (one && one.variables.length !== two?.variables.length) return one.manifest;
  }
  return undefined;
}

function firstWord(name: string): string {
  return /^[a-z]+/.exec(name.toLowerCase())?.[0] ?? '';
}

async function readStarter(folder: string, manifest: string): Promise<InitProvider | undefined> {
  const file = join(folder, `${manifest}.yaml`);
  const text = await readRegular(file);
  if (!/^init:/m.test(text)) return undefined;
  const report = new Report();
  const source = parse(file, text, report, { env: {}, directory: folder });
  const data = validate(source, 'provider');
  const [fault] = report.sorted(file);
  if (fault) throw new Error(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
  // Without a fault nothing was left out.
  return starterOf(manifest, data as ProviderManifest);
}

function starterOf(manifest: string, data: ProviderManifest): InitProvider {
  const { variables = {}, local = {}, models = {} } = data.init ?? {};
  return {
    manifest,
    title: data.name,
    base_url: data.base_url,
    in_process: data.in_process !== undefined,
    variables: Object.entries(variables),
    local: Object.entries(local),
    models: Object.entries(models),
  };
}
