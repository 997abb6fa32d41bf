import { priceShape, type PriceShape } from '../../billing/price-shape.js';
import type {
  Configuration,
  EndpointEntry,
  IdentityProvider,
  StageEntry,
} from '../../core/configuration.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import type { Provider } from '../../core/provider.js';
import { formatDollars } from '../../lib/money.js';
import { formatDuration, formatSize } from './config-units.js';
import { isOpenStage, originOf } from './configuration.js';

/**
 * The key of a note that names the hidden settings of a block; the page writes it as a comment. No
 * name in gateway.yaml can have this character.
 */
export const NOTE = '\u0000';

/** Sizes whose keys in gateway.yaml also end in `_bytes`. */
const KEPT_BYTES = /^(?:in_flight|drain|linger|journal|image|fetch)_bytes$/u;

type Block = Record<string, unknown>;

/**
 * The configuration in use with the keys and the values of gateway.yaml, defaults filled in. Like
 * `configurationShape` it consists of parts that are known to be no secret.
 */
export function configurationFile(configuration: Configuration): Block {
  const { listen, first_start, owners, providers, models, endpoints } = configuration;
  return {
    listen: `${listen.host}:${listen.port}`,
    public_url: configuration.public_url,
    store: storeWord(configuration.store),
    journal: configuration.journal,
    drain: formatDuration(configuration.drain_ms),
    drain_delay: formatDuration(configuration.drain_delay_ms),
    keep_alive: formatDuration(configuration.keep_alive_ms),
    dashboard: configuration.dashboard,
    ...filledLists({ trusted_proxies: configuration.trusted_proxies, cors: configuration.cors }),
    log: { level: configuration.log_level },
    limits: withUnits(configuration.limits),
    requests: withUnits(configuration.requests),
    ...(first_start && {
      first_start: { account: first_start.account, credit: dollars(first_start.credit_nano) },
    }),
    sign_in: signInBlock(configuration),
    owners: mapped(owners, ({ name }) => ({ name })),
    providers: mapped(providers, providerBlock),
    models: mapped(models, modelBlock),
    endpoints: Object.fromEntries(endpoints.map((one) => [one.name, endpointBlock(one)])),
  };
}

function storeWord(url: string): string {
  if (url.startsWith('sqlite:')) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function signInBlock({ sign_in }: Configuration): Block {
  const { providers, allow, operators, credit_nano, session } = sign_in;
  return {
    ...(providers.size > 0 && { providers: mapped(providers, identityBlock) }),
    ...filledLists({ allow, operators }),
    credit: dollars(credit_nano),
    session: withUnits(session),
  };
}

function identityBlock(provider: IdentityProvider): Block {
  const { kind, title, client_id, client_secret, scopes } = provider;
  return {
    kind,
    name: title,
    ...(kind === 'openid' && { issuer: provider.issuer }),
    client_id,
    ...filledLists({ scopes }),
    ...(client_secret !== undefined && { [NOTE]: 'not shown: client_secret' }),
  };
}

function providerBlock(provider: Provider): Block {
  const { manifest, local, base_url, headers, service_account, signer, timeouts } = provider;
  const hidden = [
    ...Object.keys(headers).map((name) => `header ${name}`),
    ...(service_account ? ['service_account'] : []),
    ...(signer ? ['the keys that sign'] : []),
    ...Object.keys(local?.settings ?? {}).map((name) => `setting ${name}`),
    ...(local ? [] : [`base_url at ${originOf(base_url) ?? 'an unknown origin'}`]),
  ];
  return {
    uses: manifest,
    ...(!local && { timeout: withUnits({ ...timeouts }) }),
    poll_interval: formatDuration(provider.poll_interval_ms),
    on_abort: provider.on_abort,
    ...(hidden.length > 0 && { [NOTE]: `not shown: ${hidden.join(', ')}` }),
  };
}

function modelBlock(model: Model): Block {
  const { video, ...limits } = model.limits;
  const known = present({ ...limits, ...video });
  return {
    owner: model.owner,
    capabilities: [...model.capabilities],
    upstreams: model.upstreams.map((one) => upstreamBlock(one, model)),
    ...(Object.keys(known).length > 0 && { limits: known }),
    ...filledLists({
      passthrough: [...model.passthrough],
      tool_types: [...(model.tool_types ?? [])],
    }),
    price: priceBlock(model.price),
    created: model.created,
  };
}

function upstreamBlock({ provider, ...upstream }: Upstream, model: Model): Block {
  const { drop, rename, weight, set, price } = upstream;
  const hidden = Object.keys(set);
  const isOwnPrice = JSON.stringify(priceShape(price)) !== JSON.stringify(priceShape(model.price));
  return {
    provider: provider.name,
    ...(upstream.model !== model.id && { model: upstream.model }),
    ...(weight !== undefined && { weight }),
    ...filledLists({ drop }),
    ...(Object.keys(rename).length > 0 && { rename }),
    ...(isOwnPrice && { price: priceBlock(price) }),
    ...(hidden.length > 0 && { [NOTE]: `not shown: set ${hidden.join(', ')}` }),
  };
}

/** Prices as numbers. Images and videos have them by quality, size, resolution and audio. */
function priceBlock(price: Price): unknown {
  const shape: PriceShape = priceShape(price);
  if (shape === 'free') return shape;
  const entries = Object.entries(shape).map(([unit, value]): [string, unknown] => {
    if (typeof value === 'string') return [unit, Number(value)];
    return [unit, value['any'] === undefined ? nested(value) : Number(value['any'])];
  });
  return Object.fromEntries(entries);
}

/** `{ hd: { 1024x1024: 0.08 } }` of `{ 'hd/1024x1024': '0.08' }`. */
function nested(prices: Record<string, string | number>): Block {
  const block: Record<string, number | Record<string, number>> = {};
  for (const [name, amount] of Object.entries(prices)) {
    const [first = '', second] = name.split('/');
    const inner = block[first];
    if (second === undefined) block[first] = Number(amount);
    else block[first] = { ...(typeof inner === 'object' && inner), [second]: Number(amount) };
  }
  return block;
}

function endpointBlock({ method, path, stages }: EndpointEntry): Block {
  const foreign = stages.filter((one) => one.option !== undefined && !isOpenStage(one));
  const hidden = foreign.map(({ name }) => name).join(', ');
  return {
    at: `${method} ${path}`,
    stages: stages.map(stageWord),
    ...(hidden !== '' && { [NOTE]: `not shown: the options of ${hidden}` }),
  };
}

function stageWord(stage: StageEntry): unknown {
  const { name, option } = stage;
  return option !== undefined && isOpenStage(stage) ? { [name]: option } : name;
}

/** `drain: 30s` of `drain_ms: 30000`, `body: 20mb` of `body_bytes: 20971520`. */
function withUnits(values: Readonly<Record<string, unknown>> | object): Block {
  const entries = Object.entries(values).map(([name, value]): [string, unknown] => {
    if (typeof value !== 'number') return [name, value];
    if (name.endsWith('_ms')) return [name.slice(0, -'_ms'.length), formatDuration(value)];
    if (!name.endsWith('_bytes')) return [name, value];
    const key = KEPT_BYTES.test(name) ? name : name.slice(0, -'_bytes'.length);
    return [key, formatSize(value)];
  });
  return Object.fromEntries(entries);
}

function dollars(nano: bigint): number {
  return Number(formatDollars(nano));
}

function mapped<T>(values: ReadonlyMap<string, T>, block: (value: T) => unknown): Block {
  return Object.fromEntries([...values].map(([name, value]) => [name, block(value)]));
}

/** Leaves out empty lists, which the file does not need. */
function filledLists(lists: Readonly<Record<string, readonly string[]>>): Block {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

function present(values: Readonly<Record<string, unknown>>): Block {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
