import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { Model, Upstream } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { MODALITIES } from '../modalities/index.js';
import { priceDifferences } from './price-differences.js';
import { settingDifferences, startDifferences } from './setting-differences.js';
import { restartKeys, restartSentence } from './start-settings.js';

/** One change between two configurations, in a sentence. */
export interface Difference {
  /** Whether clients lose something that worked before. */
  loses: boolean;
  text: string;
}

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
  for (const [id, model] of before.models) {
    const next = after.models.get(id);
    if (next) found.push(...(await modelDifferences(model, next)));
    else found.push(loss(`model ${id} is gone`));
  }
  for (const id of after.models.keys()) {
    if (!before.models.has(id)) found.push(change(`model ${id} is new`));
  }
  const settings = settingDifferences(before, after);
  const restart = restartSentence(restartKeys(before, after));
  return [
    ...found,
    ...providerDifferences(before, after, !isReload),
    ...endpointDifferences(before, after),
    ...settings.losses.map(loss),
    ...settings.changes.map(change),
    ...(isReload ? [] : startDifferences(before, after).map(change)),
    ...(restart === undefined ? [] : [change(restart)]),
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
    ...priceDifferences(before, after).map(change),
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

function limitDifferences(before: Model, after: Model): Difference[] {
  const [olds, news] = [limitsOf(before), limitsOf(after)];
  const names = new Set([...Object.keys(olds), ...Object.keys(news)]);
  return [...names].flatMap((name) => {
    const [old, now] = [olds[name], news[name]];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    const text = `model ${before.id}: the limit ${name} is ${shown(now)}, ${shown(old)} before`;
    // The tokens of an image bound the hold, and refuse no request.
    return [name !== 'image_tokens' && isTighter(old, now) ? loss(text) : change(text)];
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
  for (const { name, documentation } of MODALITIES.values()) {
    if (!before.capabilities.has(name) || !after.capabilities.has(name)) continue;
    const [old, now] = [
      (await documentation.example(before)).held_nano,
      (await documentation.example(after)).held_nano,
    ];
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
  const changed = new Map<string, string[]>();
  for (const [at, { stages }] of olds) {
    const next = news.get(at);
    if (!next) found.push(loss(`endpoint ${at} is gone`));
    else if (stagesOf(next.stages) !== stagesOf(stages)) {
      const text = stagesChange(stages, next.stages);
      changed.set(text, [...(changed.get(text) ?? []), at]);
    }
  }
  for (const [text, [first = '', ...more]] of changed) {
    const endpoints = more.length === 1 ? 'endpoint' : 'endpoints';
    const others = more.length === 0 ? '' : ` (as in ${more.length} more ${endpoints})`;
    found.push(change(`endpoint ${first}: ${text}${others}`));
  }
  for (const at of news.keys()) if (!olds.has(at)) found.push(change(`endpoint ${at} is new`));
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
