import type { UpstreamEntry } from '../schema-types/gateway.js';
import { checkChanges } from './fields.js';
import { nameHint } from '../yaml/did-you-mean.js';
import type { Modalities } from '../pipeline/modality.js';
import { readPrice } from './prices.js';
import type { ReadProvider } from './providers.js';
import { pointer as join, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Price, Upstream } from '../core/model.js';

/** The names of providers and owners that other entries may refer to. */
export interface Known {
  /** All names, also of entries with faults; undefined if the block is not a block. */
  owners: readonly string[] | undefined;
  provider_names: readonly string[] | undefined;
  providers: ReadonlyMap<string, ReadProvider>;
  modalities: Modalities;
}

export interface ReadUpstream {
  pointer: string;
  upstream: Upstream;
  read: ReadProvider;
}

/** The upstreams of a model. Each one with an unknown provider is a fault. */
export function readUpstreams(
  source: Source,
  pointer: string,
  model: { id: string; price: Price; entries: readonly (PartialLoad<UpstreamEntry> | undefined)[] },
  known: Known,
): ReadUpstream[] {
  const seen = new Map<string, number>();
  return model.entries.flatMap((entry, i) => {
    const place = pointer + join(i);
    if (entry?.provider === undefined) return [];
    // A faulty model name could be any name; a missing one is the public ID.
    const known_model = entry.model !== undefined || !source.marks.has(`${place}/model`);
    const target = JSON.stringify([entry.provider, entry.model ?? model.id]);
    const first = seen.get(target);
    if (first !== undefined && known_model) tellUnreachable(source, place, first);
    if (first === undefined && known_model) seen.set(target, i);
    const read = findProvider(source, `${place}/provider`, entry.provider, known);
    if (!read) return [];
    return [
      { pointer: place, upstream: readUpstream(source, place, model, entry, read, known), read },
    ];
  });
}

function tellUnreachable(source: Source, pointer: string, first: number): void {
  const provider = source.word(`${pointer}/provider`);
  const model = `${pointer}/model`;
  const what = source.marks.has(model) ? `${source.word(model)} of ${provider}` : provider;
  source.fault(pointer, {
    code: 'unreachable_fallback',
    message: `${what} is tried already by upstreams[${first}], so this entry is never of use`,
    hint: 'remove it, or name another provider or model',
  });
}

function findProvider(
  source: Source,
  pointer: string,
  name: string,
  { providers, provider_names: names }: Known,
): ReadProvider | undefined {
  if (names && !names.includes(name)) {
    const message = `no provider is called ${source.word(pointer)}`;
    source.fault(pointer, { code: 'unknown_provider', message, hint: nameHint(name, names) });
  }
  return providers.get(name);
}

function readUpstream(
  source: Source,
  pointer: string,
  model: { id: string; price: Price },
  entry: PartialLoad<UpstreamEntry>,
  { provider, manifest }: ReadProvider,
  { modalities }: Known,
): Upstream {
  const own = { set: entry.set ?? {}, drop: entry.drop ?? [], rename: entry.rename ?? {} };
  checkChanges(source, pointer, own, modalities);
  const { price } = entry;
  return {
    provider,
    model: entry.model ?? model.id,
    weight: entry.weight,
    set: { ...own.set },
    drop: [...new Set([...(manifest.data.drop ?? []), ...own.drop].filter(isText))],
    rename: texts({ ...manifest.data.rename, ...own.rename }),
    price:
      price === undefined ? model.price : readPrice(source, `${pointer}/price`, price, modalities),
  };
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

function texts(map: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
