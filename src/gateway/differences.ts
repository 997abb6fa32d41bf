import { modelNamed, type Configuration, type EndpointEntry } from '../core/configuration.js';
import type { Model, Upstream } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { MODALITIES } from '../modalities/index.js';
import { changeOf, lossOf, type Difference } from './difference.js';
import { priceDifferences } from './price-differences.js';
import { settingDifferences, startDifferences } from './setting-differences.js';
import { restartKeys, restartSentence } from './start-settings.js';
import {
  endpointValueDifferences,
  modelValueDifferences,
  providerValueDifferences,
  settingValueDifferences,
} from './value-differences.js';

/**
 * Lists the changes for clients and bills between two configurations, models first. For a reload it
 * leaves out the addresses of providers, which may hold a secret of the environment, and of the
 * settings that only a start takes up it has the names alone.
 */
export async function differences(
  before: Configuration,
  after: Configuration,
  { isReload }: { isReload: boolean } = { isReload: false },
): Promise<Difference[]> {
  const found: Difference[] = [];
  const shared = new Set([...before.providers.values(), ...after.providers.values()]);
  const hasOwnTerms = ({ provider }: Upstream): boolean => !shared.has(provider);
  for (const [id, model] of before.models) {
    const next = after.models.get(id);
    if (next) found.push(...(await modelDifferences(model, next, isReload, hasOwnTerms)));
    else found.push(lossOf(`model ${id} is gone`));
  }
  for (const id of after.models.keys()) {
    if (!before.models.has(id)) found.push(changeOf(`model ${id} is new`));
  }
  found.push(...aliasDifferences(before.aliases, after.aliases));
  const isListed = (id: string): boolean => before.models.has(id) && after.models.has(id);
  const orders = [before, after].map(({ models }) =>
    [...models.keys()].filter(isListed).join('\n'),
  );
  if (orders[0] !== orders[1]) found.push(changeOf('the models are listed in another order'));
  const settings = settingDifferences(before, after);
  const restart = restartSentence(restartKeys(before, after));
  return [
    ...found,
    ...providerDifferences(before, after, isReload),
    ...endpointDifferences(before, after, isReload),
    ...settings.losses.map(lossOf),
    ...settings.changes.map(changeOf),
    ...settingValueDifferences(before, after, isReload),
    ...(isReload ? [] : startDifferences(before, after).map(changeOf)),
    ...(restart === undefined ? [] : [changeOf(restart)]),
  ];
}

function aliasDifferences(
  before: Configuration['aliases'],
  after: Configuration['aliases'],
): Difference[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [old, now] = [before.get(name)?.id, after.get(name)?.id];
    if (old === now) return [];
    if (now === undefined) return [lossOf(`alias ${name} is gone`)];
    if (old === undefined) return [changeOf(`alias ${name} of model ${now} is new`)];
    return [changeOf(`alias ${name} is of model ${now}, ${old} before`)];
  });
}

/** Those of a key's models that the second configuration no longer has. */
export function lostModels(
  models: readonly string[],
  before: Configuration,
  after: Configuration,
): string[] {
  return models.filter((id) => modelNamed(before, id) && !modelNamed(after, id));
}

async function modelDifferences(
  before: Model,
  after: Model,
  isReload: boolean,
  hasOwnTerms: (upstream: Upstream) => boolean,
): Promise<Difference[]> {
  const { id } = before;
  const named = (of: (model: Model) => ReadonlySet<string> | undefined, noun: string) =>
    setDifferences(of(before), of(after)).map(({ loses, text }) => {
      return { loses, text: `model ${id}: the ${noun} ${text}` };
    });
  return [
    ...named((model) => model.capabilities, 'capability'),
    ...named((model) => model.passthrough, 'field'),
    ...named((model) => model.tool_types, 'tool type'),
    ...priceDifferences(before, after).map(changeOf),
    ...limitDifferences(before, after),
    ...upstreamDifferences(before, after),
    ...modelValueDifferences(before, after, isReload, hasOwnTerms),
    ...(await holdDifferences(before, after)),
    ...(before.owner === after.owner
      ? []
      : [changeOf(`model ${id}: its owner is ${after.owner}, ${before.owner} before`)]),
  ];
}

function setDifferences(
  before: ReadonlySet<string> = new Set(),
  after: ReadonlySet<string> = new Set(),
): Difference[] {
  return [
    ...[...before].filter((name) => !after.has(name)).map((name) => lossOf(`${name} is gone`)),
    ...[...after].filter((name) => !before.has(name)).map((name) => changeOf(`${name} is new`)),
  ];
}

function limitDifferences(before: Model, after: Model): Difference[] {
  const [olds, news] = [limitsOf(before), limitsOf(after)];
  const names = new Set([...Object.keys(olds), ...Object.keys(news)]);
  return [...names].flatMap((name) => {
    const [old, now] = [olds[name], news[name]];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    const text = `model ${before.id}: the limit ${name} is ${shown(now)}, ${shown(old)} before`;
    // The tokens of an image bound the hold, and refuse no request.
    return [name !== 'image_tokens' && isTighter(old, now) ? lossOf(text) : changeOf(text)];
  });
}

/** The limits by the names that gateway.yaml gives them. */
function limitsOf({ limits, capabilities }: Model): Readonly<Record<string, unknown>> {
  const { video, default_max_tokens, ...others } = limits;
  // Models without text carry the default of the whole gateway too, and never use it.
  return { ...others, ...video, ...(capabilities.has('chat') ? { default_max_tokens } : {}) };
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
  if (limit === undefined) return 'none';
  return Array.isArray(limit) ? `[${limit.join(', ')}]` : JSON.stringify(limit);
}

function upstreamDifferences({ id, ...before }: Model, after: Model): Difference[] {
  const [old, now] = [formatUpstreams(before.upstreams), formatUpstreams(after.upstreams)];
  return old === now ? [] : [changeOf(`model ${id}: its upstreams are ${now}; ${old} before`)];
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
  for (const { name, documentation } of MODALITIES.values()) {
    if (!before.capabilities.has(name) || !after.capabilities.has(name)) continue;
    const [old, now] = [
      (await documentation.example(before)).held_nano,
      (await documentation.example(after)).held_nano,
    ];
    if (now <= old) continue;
    const grown = `${formatDollars(old)} to ${formatDollars(now)}`;
    found.push(
      changeOf(`model ${before.id}: the hold of an example ${name} call grows from ${grown}`),
    );
  }
  return found;
}

function providerDifferences(
  before: Configuration,
  after: Configuration,
  isReload: boolean,
): Difference[] {
  const told = [...before.providers].flatMap(([name, provider]) => {
    const next = after.providers.get(name);
    // A model that it served is told of as well: the entry alone takes nothing from clients.
    if (!next) return [changeOf(`provider ${name} is gone`)];
    const { base_url } = provider;
    const address = isReload ? 'another one' : `${next.base_url}, ${base_url} before`;
    const isMoved = next.base_url !== base_url;
    const moved = isMoved ? [changeOf(`provider ${name}: its address is ${address}`)] : [];
    return [...moved, ...providerValueDifferences(provider, next, isReload)];
  });
  const news = [...after.providers.keys()].filter((name) => !before.providers.has(name));
  return [...told, ...news.map((name) => changeOf(`provider ${name} is new`))];
}

function endpointDifferences(
  before: Configuration,
  after: Configuration,
  isReload: boolean,
): Difference[] {
  const address = ({ method, path }: EndpointEntry): string => `${method} ${path}`;
  const news = new Map(after.endpoints.map((one) => [address(one), one]));
  const olds = new Map(before.endpoints.map((one) => [address(one), one]));
  const found: Difference[] = [];
  const changed = new Map<string, string[]>();
  for (const [at, one] of olds) {
    const next = news.get(at);
    if (!next) {
      found.push(lossOf(`endpoint ${at} is gone`));
      continue;
    }
    found.push(...endpointValueDifferences(at, one, next, isReload));
    if (stagesOf(next.stages) !== stagesOf(one.stages)) {
      const text = stagesChange(one.stages, next.stages);
      changed.set(text, [...(changed.get(text) ?? []), at]);
    }
  }
  for (const [text, [first = '', ...more]] of changed) {
    const endpoints = more.length === 1 ? 'endpoint' : 'endpoints';
    const others = more.length === 0 ? '' : ` (as in ${more.length} more ${endpoints})`;
    found.push(changeOf(`endpoint ${first}: ${text}${others}`));
  }
  for (const at of news.keys()) if (!olds.has(at)) found.push(changeOf(`endpoint ${at} is new`));
  return found;
}

/** Names the new and lost stages; else says that an option or the order has changed. */
function stagesChange(before: EndpointEntry['stages'], after: EndpointEntry['stages']): string {
  const [olds, news] = [before, after].map((stages) => new Set(stages.map(({ name }) => name)));
  const texts = setDifferences(olds, news).map(({ text }) => `the stage ${text}`);
  return texts.length > 0 ? texts.join(', ') : 'its stages change';
}

function stagesOf(stages: EndpointEntry['stages']): string {
  return JSON.stringify(stages.map(({ name, option }) => [name, option ?? null]));
}
