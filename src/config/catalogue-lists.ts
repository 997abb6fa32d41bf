import type { Catalogue, CatalogueModel } from '../catalogue/catalogue.js';
import type { ListedPrice, ModelFacts, ProviderPrices } from '../schema-types/prices.js';
import { withoutDate } from './model-names.js';
import type { Shipped } from './shipped.js';

/** A catalogue with the day on which it said so. */
export interface DatedCatalogue {
  source: string;
  date: string;
  models: Catalogue;
}

export type NewList = Omit<ProviderPrices, 'open_weights' | 'resells'>;

/** What a list keeps of one model. */
interface Entry {
  price: ListedPrice | undefined;
  facts: ModelFacts;
  date: string;
}

/**
 * The list of a manifest from catalogues, the newest first: each has the models that those before
 * it lack. A price `before` that none has stays, with its day. Undefined if none has a model of it.
 */
export function catalogueList(
  manifest: Pick<Shipped, 'catalogue' | 'has_vendors'>,
  catalogues: readonly DatedCatalogue[],
  before: ProviderPrices | undefined,
): NewList | undefined {
  const merged = mergedEntries(manifest, catalogues);
  for (const [id, entry] of pricedIn(before)) if (!merged.get(id)?.price) merged.set(id, entry);
  const entries = withoutSnapshots(merged);
  const used = catalogues.filter((one) => entries.some(([, { date }]) => date === one.date));
  const [first] = used;
  if (!first) return undefined;
  const models: Record<string, ListedPrice> = {};
  const about: Record<string, ModelFacts> = {};
  for (const [id, { price, facts, date }] of entries.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const known = price && date !== first.date ? { date, ...facts } : facts;
    if (price) models[id] = price;
    if (Object.keys(known).length > 0) about[id] = known;
  }
  const source = used.map((one) => one.source).join(' and ');
  return { source, date: first.date, models, about };
}

/** The models with a price that a list has. */
function pricedIn(list: ProviderPrices | undefined): [id: string, entry: Entry][] {
  return Object.entries(list?.models ?? {}).map(([id, price]) => {
    const { date = list?.date ?? '', ...facts } = list?.about?.[id] ?? {};
    return [id, { price, facts, date }];
  });
}

function mergedEntries(
  { catalogue, has_vendors }: Pick<Shipped, 'catalogue' | 'has_vendors'>,
  catalogues: readonly DatedCatalogue[],
): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { models, date } of catalogues) {
    for (const [id, model] of catalogue.flatMap((name) => [...(models.get(name) ?? [])])) {
      // Where all IDs have a vendor in front, one without is that of a group.
      if (has_vendors && !id.includes('/')) continue;
      const known = entries.get(id);
      entries.set(id, known ? withMore(known, model, date) : entryOf(model, date));
    }
  }
  return entries;
}

function entryOf({ price, facts }: CatalogueModel, date: string): Entry {
  return { price, facts, date };
}

function withMore(known: Entry, { price, facts }: CatalogueModel, date: string): Entry {
  const merged = mergedFacts(known.facts, facts);
  return known.price || !price ? { ...known, facts: merged } : { price, date, facts: merged };
}

/** The larger limits, and only the lacks that no catalogue denies: a warning must be certain. */
function mergedFacts(one: ModelFacts, other: ModelFacts): ModelFacts {
  const has = [...new Set([...(one.has ?? []), ...(other.has ?? [])])];
  const lacks = [...new Set([...(one.lacks ?? []), ...(other.lacks ?? [])])].filter(
    (ability) => !has.includes(ability),
  );
  const most = (key: 'context' | 'max_tokens') => Math.max(one[key] ?? 0, other[key] ?? 0);
  const [context, max_tokens] = [most('context'), most('max_tokens')];
  const retires = one.retires ?? other.retires;
  return {
    ...(context > 0 && { context }),
    ...(max_tokens > 0 && { max_tokens }),
    ...(has.length > 0 && { has }),
    ...(lacks.length > 0 && { lacks }),
    ...(retires !== undefined && { retires }),
    ...((one.gone ?? other.gone) && { gone: true as const }),
  };
}

/** A snapshot that says the same as its model has no entry; the last may stand for the model. */
function withoutSnapshots(entries: ReadonlyMap<string, Entry>): [string, Entry][] {
  const kept = new Map(entries);
  const snapshots = [...entries.keys()].filter((id) => withoutDate(id) !== id).toSorted();
  for (const id of snapshots) {
    const own = entries.get(id);
    if (own && !entries.has(withoutDate(id))) kept.set(withoutDate(id), own);
  }
  for (const id of snapshots) {
    const [own, bare] = [kept.get(id), kept.get(withoutDate(id))];
    if (own && bare && sameText(own) === sameText(bare)) kept.delete(id);
  }
  return [...kept];
}

function sameText({ price, facts: { retires, gone } }: Entry): string {
  return JSON.stringify([price, retires, gone]);
}
