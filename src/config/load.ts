import { dirname, resolve } from 'node:path';
import type { GatewayFile } from '../schema-types/gateway.js';
import type { ReadProvider } from './adapter.js';
import { readAliases, withoutAliases } from './aliases.js';
import { readCallTerms } from './call-terms.js';
import { checkTexts } from './clear-text.js';
import { readEndpoints } from './endpoints.js';
import { includeFiles } from './include.js';
import { withFallbacks } from './fallbacks.js';
import { freeze } from '../yaml/freeze.js';
import { pricesBeside, type ListPrices } from './list-prices.js';
import { Manifests } from './manifest.js';
import { readModels, type ReadModel } from './models.js';
import { parse } from '../yaml/parse.js';
import type { Modalities } from '../pipeline/modality.js';
import { readProviders } from './providers.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import { readSettings } from './settings.js';
import type { Source } from '../yaml/source.js';
import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { Known } from './upstreams.js';
import { unreadable } from '../yaml/unreadable.js';
import { validate, type PartialLoad } from '../yaml/validate.js';
import type { ConfigFault } from '../core/config-fault.js';

/** The faults of a file, and its configuration if none of them is an error. */
export interface Loaded {
  faults: ConfigFault[];
  configuration: Configuration | undefined;
  /** The endpoints that could be read. Their stages are checked even if the file has faults. */
  endpoints: readonly EndpointEntry[];
  /** Undefined for a file that is no YAML. */
  read: ReadFile | undefined;
  /** Undefined if a fault is an error. */
  finished: FinishedFile | undefined;
}

/** What could be read of a file, with the places of its values. */
export interface ReadFile {
  source: Source;
  gateway: PartialLoad<GatewayFile>;
  models: readonly ReadModel[];
}

/** A configuration without errors, with the places of its values and all that it was read from. */
export interface FinishedFile extends ReadFile {
  configuration: Configuration;
  providers: ReadonlyMap<string, ReadProvider>;
  manifests: Manifests;
  prices: ListPrices;
  modalities: Modalities;
  /** The time at which the file is looked at; without it no rule tells what depends on the day. */
  now_ms?: number | undefined;
}

/**
 * Reads, expands, checks and joins gateway.yaml and the manifests that it uses. Writes nothing and
 * contacts nothing. Throws `Unreadable`; all other faults are in the result. `file` is the path
 * that faults show. Without `env` every variable and every file of a secret is taken as set; with
 * `isNeeded` those of the other values of gateway.yaml are.
 */
export async function load(
  file: string,
  env: NodeJS.ProcessEnv | undefined,
  modalities: Modalities,
  isNeeded?: (pointer: string) => boolean,
): Promise<Loaded> {
  const text = await read(file);
  const report = new Report();
  const directory = dirname(resolve(file));
  const context = { env, directory, isNeeded, schema: 'gateway' } as const;
  const source = parse(file, text, report, context);
  if (!source.readable) return refused(report.sorted(file));
  await includeFiles(source, context);
  const gateway = validate(source, 'gateway');
  const endpoints = readEndpoints(source, gateway.endpoints, modalities);
  const settings = readSettings(source, gateway, directory);
  const manifests = new Manifests(source, env, modalities);
  const read_providers = await readProviders(
    source,
    gateway.providers ?? {},
    manifests,
    readCallTerms(source, '/defaults', gateway.defaults ?? {}),
    modalities,
  );
  const known: Known = {
    owners: source.complete ? source.keys('/owners') : undefined,
    provider_names: source.complete ? source.keys('/providers') : undefined,
    providers: read_providers,
    modalities,
    prices: await pricesBeside(dirname(file), report),
    default_max_tokens: gateway.limits?.default_max_tokens,
  };
  const entries = gateway.models ?? {};
  const read_models = readModels(source, withoutAliases(source, entries), known);
  const by_id = new Map(read_models.map(({ model }) => [model.id, model]));
  const models = withFallbacks(source, entries, by_id);
  const aliases = readAliases(source, entries, models);
  checkTexts(source, gateway);
  const configuration: Configuration = {
    file: resolve(file),
    directory,
    ...settings,
    owners: readOwners(gateway),
    providers: new Map([...read_providers].map(([name, { provider }]) => [name, provider])),
    models,
    aliases,
    endpoints,
  };
  freeze(configuration);
  const { prices } = known;
  const read_file = { source, gateway, models: read_models };
  const parts = { manifests, prices, modalities, providers: read_providers };
  const finished = { ...read_file, ...parts, configuration };
  return {
    faults: report.sorted(file),
    configuration: report.failed ? undefined : configuration,
    endpoints,
    read: read_file,
    finished: report.failed ? undefined : finished,
  };
}

function refused(faults: ConfigFault[]): Loaded {
  return { faults, configuration: undefined, endpoints: [], read: undefined, finished: undefined };
}

async function read(file: string): Promise<string> {
  try {
    return await readRegular(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function readOwners(gateway: PartialLoad<GatewayFile>): Map<string, { name: string }> {
  return new Map(
    Object.entries(gateway.owners ?? {}).map(([key, owner]) => [key, { name: owner?.name ?? key }]),
  );
}
