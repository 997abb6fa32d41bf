import { priceShape, type PriceShape } from '../billing/price-shape.js';
import { shippedPrices, type ListPrices } from '../config/list-prices.js';
import type { InitProvider } from '../config/init-providers.js';
import { MODALITIES } from '../modalities/index.js';
import type { ModelFacts } from '../schema-types/prices.js';
import { askLocalServers, type LocalAddress, type LocalOutcome } from './local-servers.js';

/** A model as `tollgate init` writes it. */
export interface PlannedModel {
  /** The provider's own ID. */
  id: string;
  capabilities: readonly string[];
  limits: Readonly<Record<string, unknown>>;
  price: PriceShape | Readonly<Record<string, unknown>>;
  /** Remarks on the limits and on the price; empty for none. */
  limits_note: string;
  price_note: string;
}

/** A provider that was found. */
export interface PlannedProvider {
  /** The name of its entry. */
  name: string;
  uses: string;
  title: string;
  /** The keys of its entry. A secret is written as the name of its variable. */
  entry: readonly (readonly [key: string, value: string])[];
  /** The environment variables with its credentials; empty for a local or in-process provider. */
  variables: readonly string[];
  /** Those of them that are not set yet. */
  unset: readonly string[];
  base_url: string | null;
  /** Empty if no price is known. */
  models: readonly PlannedModel[];
  /** The number of models that are left out because there are too many. */
  omitted: number;
}

/** A provider that was looked for and cannot be used. */
export interface Missed {
  name: string;
  title: string;
  reason: string;
  /** The address at which a server answers, so that the gateway cannot listen there; else null. */
  busy_url: string | null;
}

export interface Findings {
  providers: PlannedProvider[];
  missed: Missed[];
}

export interface Search {
  init_providers: readonly InitProvider[];
  /** The names of the providers to look for; undefined for all. */
  picks: readonly string[] | undefined;
  env: NodeJS.ProcessEnv;
  addresses: readonly LocalAddress[];
  timeout_ms: number;
  /** The time now: a model that its provider has ended is left out. */
  now_ms: number;
}

/** The most models of one local server that are written: a first file stays short. */
const LOCAL_MODELS = 40;
const EMBEDDING = /embed|minilm|(?:^|[/_-])(?:bge|e5|gte)[-_]/i;

/** Looks for providers: by keys in the environment, and by servers that answer on this machine. */
export async function findProviders({
  init_providers,
  picks,
  env,
  addresses,
  timeout_ms,
  now_ms,
}: Search): Promise<Findings> {
  const isWanted = (name: string): boolean => picks?.includes(name) ?? true;
  const prices = await shippedPrices();
  const findings: Findings = { providers: [], missed: [] };
  for (const provider of init_providers) {
    if (provider.variables.length === 0 || !isWanted(provider.manifest)) continue;
    const values = provider.variables.map(([key, names]) => {
      return [key, names.find((name) => (env[name] ?? '') !== '')] as const;
    });
    const unset = provider.variables.filter((_, at) => values[at]?.[1] === undefined);
    // A key tells the provider, and one that is picked by name needs none yet.
    const isFound = picks !== undefined || values.some(([key, name]) => key === 'api_key' && name);
    const isWhole = unset.length === 0;
    if (isFound || isWhole) findings.providers.push(withKeys(provider, values, prices, now_ms));
    else findings.missed.push(missing(provider, unset));
  }
  const wanted = addresses.filter(({ name }) => isWanted(name));
  const outcomes = await askLocalServers(wanted, timeout_ms);
  wanted.forEach((address, at) => add(findings, address, init_providers, outcomes[at]));
  return findings;
}

/** The in-process providers, such as the simulator: they serve if no other provider is found. */
export async function lastResort(
  init_providers: readonly InitProvider[],
): Promise<PlannedProvider[]> {
  const within = init_providers.filter(({ in_process, models }) => in_process && models.length > 0);
  const prices = await shippedPrices();
  return within.map((provider) => withKeys(provider, [], prices, 0));
}

/** `values` are the keys of its entry, each with the variable that is set for it, if any. */
function withKeys(
  provider: InitProvider,
  values: readonly (readonly [key: string, variable: string | undefined])[],
  prices: ListPrices,
  now_ms: number,
): PlannedProvider {
  const usual = new Map(provider.variables.map(([key, [name = '']]) => [key, name]));
  const named = values.map(([key, name]) => [key, name ?? usual.get(key) ?? ''] as const);
  const unset = values.flatMap(([key, name]) => (name ? [] : (usual.get(key) ?? [])));
  return {
    name: provider.manifest,
    uses: provider.manifest,
    title: provider.title,
    entry: named.map(([key, name]) => [key, `\${${name}}`]),
    variables: named.map(([, name]) => name),
    unset,
    base_url: null,
    models: plannedModels(provider, prices, now_ms),
    omitted: 0,
  };
}

function plannedModels(
  { manifest, models, title }: InitProvider,
  prices: ListPrices,
  now_ms: number,
): PlannedModel[] {
  const today = new Date(now_ms).toISOString().slice(0, 10);
  return models.flatMap(([id, { capabilities, limits = {}, price, note = '' }]): PlannedModel[] => {
    const facts = prices.factsOf({ provider: { manifest }, model: id }) ?? {};
    if (facts.gone || (facts.retires ?? today) < today) return [];
    const known = capabilities.includes('chat') ? limitsOf(facts) : {};
    const common = { id, capabilities, limits: { ...known, ...limits }, limits_note: note };
    if (price) return [{ ...common, price, price_note: '' }];
    const listed = prices.find({ provider: { manifest }, model: id }, MODALITIES);
    const priced = listed ?? prices.findElsewhere(id, MODALITIES);
    if (!priced) return [];
    const price_note = listed
      ? `the list price of ${priced.date}`
      : `the list price of its maker of ${priced.date}: compare it with ${title}'s`;
    return [{ ...common, price: priceShape(priced.price), price_note }];
  });
}

/** The limits that a model is known to have. */
function limitsOf({ max_tokens, context }: ModelFacts): Readonly<Record<string, number>> {
  return { ...(max_tokens && { max_tokens }), ...(context && { context }) };
}

function missing({ manifest, title }: InitProvider, unset: InitProvider['variables']): Missed {
  const names = unset.map(([, variables]) => variables.join(' or '));
  const reason = `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not set`;
  return { name: manifest, title, reason, busy_url: null };
}

function add(
  { providers, missed }: Findings,
  { name, uses, base_url }: LocalAddress,
  init_providers: readonly InitProvider[],
  outcome: LocalOutcome = { kind: 'silent' },
): void {
  const provider = init_providers.find(({ manifest }) => manifest === uses);
  const title = name === uses ? (provider?.title ?? name) : name;
  if (outcome.kind === 'models') {
    providers.push({
      name,
      uses,
      title,
      entry: base_url === provider?.base_url ? [] : [['base_url', base_url]],
      variables: [],
      unset: [],
      base_url,
      models: outcome.models.slice(0, LOCAL_MODELS).map(({ id, context }) => ({
        id,
        capabilities: EMBEDDING.test(id) ? ['embedding'] : ['chat', 'tools'],
        limits: context === undefined ? {} : { context },
        limits_note: '',
        price: 'free',
        price_note: '',
      })),
      omitted: Math.max(0, outcome.models.length - LOCAL_MODELS),
    });
    return;
  }
  const isSilent = outcome.kind === 'silent';
  const reason = isSilent
    ? `nothing answers at ${base_url}`
    : `${base_url} answers, but ${outcome.reason}`;
  missed.push({ name, title, reason, busy_url: isSilent ? null : base_url });
}

const FIRST_PORT = 8080;

/** The first port from 8080 on that none of the servers found uses. */
export function freePort({ providers, missed }: Findings): number {
  const busy = [...providers.map(({ base_url }) => base_url), ...missed.map((one) => one.busy_url)]
    .flatMap((url) => url ?? [])
    .map((url) => Number(new URL(url).port));
  let port = FIRST_PORT;
  while (busy.includes(port)) port += 1;
  return port;
}
