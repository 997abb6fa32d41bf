import { priceShape } from '../billing/price-shape.js';
import { formatDollars } from '../lib/money.js';
import type {
  Configuration,
  EndpointEntry,
  IdentityProvider,
  StageEntry,
} from '../core/configuration.js';
import { costCard, type Model, type Upstream } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import type { StorePlace } from '../core/store-place.js';
import { hostsOfUrl } from '../store/postgres/postgres-place.js';
import { oneAction, requireGateway } from './action.js';

/** Stages whose options are safe to show. The options of an operator's own stage may be secrets. */
const OPEN_STAGES: ReadonlySet<string> = new Set([
  'validate',
  'route',
  'limit',
  'balance',
  'transform',
  'meter',
  'models',
  'model',
]);

export const showConfiguration = oneAction({
  name: 'configuration show',
  run: async ({ gateway }) => configurationOf(requireGateway(gateway).configuration),
  routes: [
    {
      method: 'GET',
      path: '/api/configuration',
      scope: 'gateway:read',
      id: 'getConfiguration',
      summary: 'Get the configuration in force, without its secrets',
      status: 200,
      answer: 'Configuration',
    },
  ],
  answer: (configuration) => configuration,
});

/** Made at the first request: for many models it would take most of the start. */
const shapes = new WeakMap<Configuration, object>();

function configurationOf(configuration: Configuration): object {
  const shape = shapes.get(configuration) ?? configurationShape(configuration);
  shapes.set(configuration, shape);
  return shape;
}

/**
 * The configuration in use as JSON, for operators. It lists only settings that are known to hold no
 * secret; any other key of the file is left out. Of a URL that may hold a secret only the origin is
 * shown, of a header or setting only the name.
 */
export function configurationShape(configuration: Configuration): object {
  const { listen, limits, providers, endpoints, aliases, owners, first_start } = configuration;
  return {
    file: configuration.file,
    listen: `${listen.host}:${listen.port}`,
    public_url: configuration.public_url,
    store: storeShape(configuration.store),
    drain_ms: configuration.drain_ms,
    drain_delay_ms: configuration.drain_delay_ms,
    keep_alive_ms: configuration.keep_alive_ms,
    log_level: configuration.log_level,
    log_format: configuration.log_format,
    headers: configuration.headers,
    dashboard: configuration.dashboard,
    trusted_proxies: configuration.trusted_proxies,
    cors: configuration.cors,
    limits: { ...limits },
    rates: configuration.rates,
    first_start: first_start
      ? { account: first_start.account, credit: formatDollars(first_start.credit_nano) }
      : null,
    sign_in: signInShape(configuration),
    owners: Object.fromEntries([...owners].map(([id, { name }]) => [id, { name }])),
    providers: Object.fromEntries([...providers].map(([id, one]) => [id, providerShape(one)])),
    models: modelsShape(configuration),
    aliases: Object.fromEntries([...aliases].map(([name, { id }]) => [name, id])),
    endpoints: Object.fromEntries(endpoints.map((one) => [one.name, endpointShape(one)])),
  };
}

/** The address of the store, without user and password. */
function storeShape({ url, session_url, ...store }: StorePlace): object {
  if (url.startsWith('sqlite:')) return { kind: 'sqlite', file: url.slice('sqlite:'.length) };
  const session_host = session_url === undefined ? undefined : addressOf(session_url).host;
  return { kind: 'postgres', ...addressOf(url), session_host, ...store };
}

function addressOf(url: string): { host: string; database: string | undefined } {
  const all = hostsOfUrl(url).urls.map((one) => new URL(one));
  return { host: all.map((one) => one.host).join(','), database: all[0]?.pathname.slice(1) };
}

function signInShape({ sign_in }: Configuration): object {
  const { providers, allow, operators, credit_nano, session } = sign_in;
  return {
    providers: Object.fromEntries([...providers].map(([id, one]) => [id, identityShape(one)])),
    allow,
    operators,
    credit: formatDollars(credit_nano),
    session: { idle_ms: session.idle_ms, lifetime_ms: session.lifetime_ms },
  };
}

function identityShape(provider: IdentityProvider): object {
  const { kind, title, client_id, scopes } = provider;
  return { kind, title, client_id, scopes, ...(kind === 'openid' && { issuer: provider.issuer }) };
}

function providerShape(provider: Provider): object {
  const { operations, local, base_url, headers, timeouts } = provider;
  const serves = [...operations.keys()];
  return {
    uses: provider.manifest,
    origin: local ? null : originOf(base_url),
    serves,
    headers: Object.keys(headers),
    service_account: provider.service_account !== undefined,
    settings: Object.keys(local?.settings ?? {}),
    timeouts: { ...timeouts },
    poll_interval_ms: provider.poll_interval_ms,
    on_abort: provider.on_abort,
  };
}

/** The origin of a URL whose path may be a secret; null for text that is no URL. */
function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}

function endpointShape({ method, path, stages }: EndpointEntry): object {
  return { at: `${method} ${path}`, stages: stages.map(stageShape) };
}

function stageShape(stage: StageEntry): string | object {
  const { name, option } = stage;
  return option !== undefined && isOpenStage(stage) ? { [name]: option } : name;
}

/** Whether the options of this stage are safe to show. */
function isOpenStage({ name }: StageEntry): boolean {
  return OPEN_STAGES.has(name);
}

/** All models, with their upstreams and the changes to their requests, for operators. */
function modelsShape({ models }: Configuration): Record<string, object> {
  return Object.fromEntries([...models].map(([id, model]) => [id, modelShape(model)]));
}

function modelShape(model: Model): object {
  return {
    description: model.description ?? null,
    owner: model.owner,
    created: model.created,
    capabilities: [...model.capabilities],
    limits: model.limits,
    rates: model.rates ?? null,
    passthrough: [...model.passthrough],
    price: priceShape(model.price),
    upstreams: model.upstreams.map(upstreamShape),
    fallback: model.fallback ?? [],
  };
}

function defaultNames({ default: fields = {} }: Upstream): string[] {
  return [...new Set(Object.values(fields).flatMap((one) => Object.keys(one ?? {})))];
}

/** A value in `set` or `default` may be a secret, so only its name is shown. */
function upstreamShape(upstream: Upstream): object {
  return {
    provider: upstream.provider.name,
    model: upstream.model,
    weight: upstream.weight ?? null,
    set: Object.keys(upstream.set),
    default: defaultNames(upstream),
    drop: upstream.drop,
    rename: upstream.rename,
    price: priceShape(upstream.price),
    cost: priceShape(costCard(upstream.price)),
  };
}
