import { priceShape, type PriceShape } from '../billing/price-shape.js';
import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { Model, Upstream } from '../core/model.js';
import { amountsOf } from './margins.js';
import { formatDollars } from '../lib/money.js';
import { MODALITIES } from '../modalities/index.js';

/** One change between two configurations, in a sentence. */
export interface Difference {
  /** Whether clients lose something that worked before. */
  loses: boolean;
  text: string;
}

/**
 * Lists the changes for clients and bills between two configurations, models first. The address of
 * a provider may hold a secret from the environment, so `hasAddresses: false` leaves it out.
 */
export async function differences(
  before: Configuration,
  after: Configuration,
  { hasAddresses }: { hasAddresses: boolean } = { hasAddresses: true },
): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const [id, model] of before.models) {
    const next = after.models.get(id);
    if (next) found.push(...(await modelDifferences(model, next)));
    else found.push(loss(`model ${id} is gone`));
  }
  for (const id of after.models.keys()) {
    if (!before.models.has(id)) found.push(change(`model ${id} is new`));
  }
  return [
    ...found,
    ...providerDifferences(before, after, hasAddresses),
    ...endpointDifferences(before, after),
    ...headerDifferences(before, after),
  ];
}

/** Those of a key's models that the second configuration no longer has. */
export function lostModels(
  models: readonly string[],
  before: Configuration,
  after: Configuration,
): string[] {
  return models.filter((id) => before.models.has(id) && !after.models.has(id));
}

function loss(text: string): Difference {
  return { loses: true, text };
}

function change(text: string): Difference {
  return { loses: false, text };
}

async function modelDifferences(before: Model, after: Model): Promise<Difference[]> {
  const { id } = before;
  const named = (of: (model: Model) => ReadonlySet<string> | undefined, noun: string) =>
    setDifferences(of(before), of(after)).map(({ loses, text }) => {
      return { loses, text: `model ${id}: the ${noun} ${text}` };
    });
  return [
    ...named((model) => model.capabilities, 'capability'),
    ...named((model) => model.passthrough, 'field'),
    ...named((model) => model.tool_types, 'tool type'),
    ...priceDifferences(id, priceShape(before.price), priceShape(after.price)),
    ...limitDifferences(before, after),
    ...upstreamDifferences(before, after),
    ...(await holdDifferences(before, after)),
    ...(before.owner === after.owner
      ? []
      : [change(`model ${id}: its owner is ${after.owner}, ${before.owner} before`)]),
  ];
}

function setDifferences(
  before: ReadonlySet<string> = new Set(),
  after: ReadonlySet<string> = new Set(),
): Difference[] {
  return [
    ...[...before].filter((name) => !after.has(name)).map((name) => loss(`${name} is gone`)),
    ...[...after].filter((name) => !before.has(name)).map((name) => change(`${name} is new`)),
  ];
}

function priceDifferences(id: string, before: PriceShape, after: PriceShape): Difference[] {
  if (before === 'free' && after === 'free') return [];
  if (before === 'free') return [change(`model ${id}: it was free and has a price now`)];
  if (after === 'free') return [change(`model ${id}: it had a price and is free now`)];
  const [olds, news] = [amountsOf(before), amountsOf(after)];
  return [...new Set([...olds.keys(), ...news.keys()])].flatMap((unit) => {
    const [old, now] = [olds.get(unit), news.get(unit)];
    if (old === now) return [];
    if (old === undefined)
      return [change(`model ${id}: ${unit} has a price of its own now, ${now}`)];
    if (now === undefined) return [change(`model ${id}: ${unit} has no price of its own any more`)];
    return [
      change(
        `model ${id}: ${unit} ${percentChange(Number(old), Number(now))}, from ${old} to ${now}`,
      ),
    ];
  });
}

/** `up by 20 %`, `down by 5 %`. */
function percentChange(before: number, after: number): string {
  if (before === 0) return 'is no longer free';
  const percent = Number(((Math.abs(after - before) / before) * 100).toPrecision(3));
  return `${after > before ? 'up' : 'down'} by ${percent} %`;
}

function limitDifferences({ id, limits: before }: Model, { limits: after }: Model): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const [old, now]: unknown[] = [Reflect.get(before, name), Reflect.get(after, name)];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    const text = `model ${id}: the limit ${name} is ${shown(now)}, ${shown(old)} before`;
    return [isTighter(old, now) ? loss(text) : change(text)];
  });
}

/** Whether a limit allows less than before. A list allows less if it has lost an entry. */
function isTighter(before: unknown, after: unknown): boolean {
  if (after === undefined) return false;
  if (before === undefined) return true;
  if (typeof before === 'number' && typeof after === 'number') return after < before;
  return Array.isArray(before) && Array.isArray(after)
    ? before.some((one) => !after.includes(one))
    : true;
}

function shown(limit: unknown): string {
  return limit === undefined ? 'none' : JSON.stringify(limit);
}

function upstreamDifferences({ id, ...before }: Model, after: Model): Difference[] {
  const [old, now] = [formatUpstreams(before.upstreams), formatUpstreams(after.upstreams)];
  return old === now ? [] : [change(`model ${id}: its upstreams are ${now}; ${old} before`)];
}

function formatUpstreams(upstreams: readonly Upstream[]): string {
  return upstreams
    .map(({ provider, model, weight }) => {
      return `${provider.name} ${model}${weight === undefined ? '' : ` (weight ${weight})`}`;
    })
    .join(', ');
}

/** Compares the holds of the example call that `explain` shows. */
async function holdDifferences(before: Model, after: Model): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const { name, example } of MODALITIES.values()) {
    if (!before.capabilities.has(name) || !after.capabilities.has(name)) continue;
    const [old, now] = [(await example(before)).held_nano, (await example(after)).held_nano];
    if (now <= old) continue;
    const grown = `${formatDollars(old)} to ${formatDollars(now)}`;
    found.push(
      change(`model ${before.id}: the hold of an example ${name} call grows from ${grown}`),
    );
  }
  return found;
}

function providerDifferences(
  before: Configuration,
  after: Configuration,
  hasAddresses: boolean,
): Difference[] {
  return [...before.providers].flatMap(([name, { base_url }]) => {
    const next = after.providers.get(name);
    if (!next || next.base_url === base_url || base_url === '' || next.base_url === '') return [];
    const address = hasAddresses ? `${next.base_url}, ${base_url} before` : 'another one';
    return [change(`provider ${name}: its address is ${address}`)];
  });
}

function endpointDifferences(before: Configuration, after: Configuration): Difference[] {
  const address = ({ method, path }: EndpointEntry): string => `${method} ${path}`;
  const news = new Map(after.endpoints.map((one) => [address(one), one]));
  const olds = new Map(before.endpoints.map((one) => [address(one), one]));
  const found: Difference[] = [];
  for (const [at, { stages }] of olds) {
    const next = news.get(at);
    if (!next) found.push(loss(`endpoint ${at} is gone`));
    else if (stagesOf(next.stages) !== stagesOf(stages)) {
      found.push(change(`endpoint ${at}: its stages change`));
    }
  }
  for (const at of news.keys()) if (!olds.has(at)) found.push(change(`endpoint ${at} is new`));
  return found;
}

function stagesOf(stages: EndpointEntry['stages']): string {
  return JSON.stringify(stages.map(({ name, option }) => [name, option ?? null]));
}

/** `upstream` tells clients who the upstreams are, so an operator sees that it was turned on. */
function headerDifferences(before: Configuration, after: Configuration): Difference[] {
  return (['upstream', 'cost', 'attempts'] as const).flatMap((name) => {
    if (before.headers[name] === after.headers[name]) return [];
    return after.headers[name]
      ? [told(`answers have the header tollgate-${name}`)]
      : [lost(`answers have no header tollgate-${name} any more`)];
  });
}
