import { isListPrice } from '../config/price-terms.js';
import { dirname, join as joinPath } from 'node:path';
import { priceShape } from '../billing/price-shape.js';
import type { ReadCatalogue } from '../catalogue/read-catalogue.js';
import { catalogueList } from '../config/catalogue-lists.js';
import { ConfigError } from '../config/config-error.js';
import { OWN_LIST, pricesWith, readOwnList, type ListPrices } from '../config/list-prices.js';
import { load } from '../config/load.js';
import type { ReadUpstream } from '../config/upstreams.js';
import { MODALITIES } from '../modalities/index.js';
import type { ListPrices as PricesFile, ProviderPrices } from '../schema-types/prices.js';
import { Report } from '../yaml/report.js';
import { flow } from '../yaml/schema-walk.js';
import { amountsOf } from './margins.js';

/** An amount that is another one in the new list; null where a list has none. */
export interface ChangedAmount {
  /** `input_per_million`, or `long_prompt output_per_million`. */
  unit: string;
  /** Dollars. */
  before: string | null;
  after: string | null;
}

/** What the new list says of a model that the list before it had or lacked. */
export interface ListChange {
  manifest: string;
  /** The provider's own ID. */
  model: string;
  /** `new` for a price where there was none, `gone` for one that the catalogue has no more. */
  kind: 'rises' | 'falls' | 'mixed' | 'new' | 'gone';
  amounts: ChangedAmount[];
  /** The models of gateway.yaml that pay the list price of this one. */
  paid_by: string[];
}

/** An amount that the operator wrote himself, and what the list says now. */
export interface OwnAmount {
  /** The model of gateway.yaml, with the provider's entry and the provider's own ID. */
  model: string;
  provider: string;
  upstream_model: string;
  unit: string;
  price: string;
  list: string;
}

export interface PriceUpdate {
  file: string;
  source: string;
  date: string;
  /** The entries of the catalogue that are not in its form, and were left out. */
  skipped: number;
  changes: ListChange[];
  own: OwnAmount[];
  /** The text of the new file. */
  text: string;
}

/** A price list cannot be made. The message is a sentence for the person who asked for it. */
export class NoUpdate extends Error {
  override name = 'NoUpdate';
}

/**
 * Makes the list beside a gateway.yaml anew from a catalogue, for the providers of that file, and
 * compares it with the one before. Writes nothing. Throws `Unreadable`, `ConfigError`, `NoUpdate`.
 */
export async function planUpdate(
  file: string,
  catalogue: ReadCatalogue,
  date: string,
): Promise<PriceUpdate> {
  // A file may lack nothing but the list price that the update brings.
  const { read, faults } = await load(file, undefined, MODALITIES);
  if (!read) throw new ConfigError(faults);
  const payers = read.models.flatMap(({ model, upstreams: all }) =>
    all.map((upstream): Payer => ({
      id: model.id,
      upstream,
      pays_list: isListPrice(read.source, upstream.price_at),
    })),
  );
  const directory = dirname(file);
  const report = new Report();
  const before = await readOwnList(directory, report);
  const own_faults = report.sorted(joinPath(directory, OWN_LIST));
  if (own_faults.length > 0) throw new ConfigError(own_faults);
  const lists = newLists(payers, catalogue, date, before);
  const own = { lists: { ...before?.lists, ...lists } };
  const [old_prices, prices] = [await pricesWith(before), await pricesWith(own)];
  return {
    file: joinPath(directory, OWN_LIST),
    source: catalogue.source,
    date,
    skipped: catalogue.skipped,
    changes: changesIn(lists, old_prices, prices, payers),
    own: ownAmounts(payers, prices),
    text: textOfLists(own, date, catalogue.source),
  };
}

/** An upstream of a model of gateway.yaml. */
interface Payer {
  id: string;
  upstream: ReadUpstream;
  pays_list: boolean;
}

/** The new list of each manifest that the file uses, if the catalogue knows its provider. */
function newLists(
  payers: readonly Payer[],
  { models, source }: ReadCatalogue,
  date: string,
  before: PricesFile | undefined,
): PricesFile['lists'] {
  const lists: PricesFile['lists'] = {};
  for (const { upstream } of payers) {
    const { provider, manifest } = upstream.read;
    const name = provider.manifest;
    const { catalogue = [], model_example = '' } = manifest.data;
    const names = catalogue.flatMap((one) => one ?? []);
    if (lists[name] || names.length === 0) continue;
    const known = { catalogue: names, has_vendors: model_example.includes('/') };
    const used = usedOf(name, before?.lists[name], payers);
    const list = catalogueList(known, [{ source, date, models }], used);
    if (list) lists[name] = list;
  }
  if (Object.keys(lists).length > 0) return lists;
  throw new NoUpdate(`${source} has no model of a provider that the configuration uses`);
}

/** What a list has of the models that the file uses: the catalogue may have dropped them. */
function usedOf(
  manifest: string,
  list: ProviderPrices | undefined,
  payers: readonly Payer[],
): ProviderPrices | undefined {
  if (!list) return undefined;
  const used = payers.flatMap(({ upstream: { upstream, listed } }) =>
    upstream.provider.manifest === manifest ? [listed?.model ?? upstream.model] : [],
  );
  const models = Object.entries(list.models).filter(([id]) => used.includes(id));
  return { ...list, models: Object.fromEntries(models) };
}

function changesIn(
  lists: PricesFile['lists'],
  before: ListPrices,
  after: ListPrices,
  payers: readonly Payer[],
): ListChange[] {
  return Object.keys(lists).flatMap((manifest) => {
    const ids = new Set([...before.modelsOf(manifest), ...after.modelsOf(manifest)]);
    return [...ids].flatMap((model): ListChange[] => {
      const target = { provider: { manifest }, model };
      const [old, now] = [before, after].map((prices) => {
        const listed = prices.find(target, MODALITIES);
        return listed ? amountsOf(priceShape(listed.price)) : new Map<string, string>();
      });
      const amounts = changedAmounts(old ?? new Map(), now ?? new Map());
      if (amounts.length === 0) return [];
      const paid_by = payers.flatMap(({ id, upstream: { upstream, listed }, pays_list }) => {
        const isSame = upstream.provider.manifest === manifest;
        return pays_list && isSame && (listed?.model ?? upstream.model) === model ? [id] : [];
      });
      const kind = old?.size === 0 ? 'new' : now?.size === 0 ? 'gone' : directionOf(amounts);
      return [{ manifest, model, kind, amounts, paid_by: [...new Set(paid_by)] }];
    });
  });
}

function changedAmounts(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ChangedAmount[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((unit) => {
    const [old, now] = [before.get(unit) ?? null, after.get(unit) ?? null];
    return old === now ? [] : [{ unit, before: old, after: now }];
  });
}

/** A class that gets or loses a price of its own counts on neither side. */
function directionOf(amounts: readonly ChangedAmount[]): 'rises' | 'falls' | 'mixed' {
  const both = amounts.filter(({ before, after }) => before !== null && after !== null);
  const isUp = both.some(({ before, after }) => Number(after) > Number(before));
  const isDown = both.some(({ before, after }) => Number(after) < Number(before));
  if (isUp === isDown) return 'mixed';
  return isUp ? 'rises' : 'falls';
}

function ownAmounts(payers: readonly Payer[], prices: ListPrices): OwnAmount[] {
  return payers.flatMap(({ id, upstream: { upstream }, pays_list }) => {
    const listed = pays_list ? undefined : prices.find(upstream, MODALITIES);
    if (!listed || upstream.price.free) return [];
    const own = amountsOf(priceShape(upstream.price));
    return [...amountsOf(priceShape(listed.price))].flatMap(([unit, list]) => {
      const price = own.get(unit);
      if (price === undefined || price === list) return [];
      const at = { model: id, provider: upstream.provider.name, upstream_model: upstream.model };
      return [{ ...at, unit, price, list }];
    });
  });
}

/** A line for each model, so that a difference of the file can be reviewed. */
function textOfLists({ lists }: PricesFile, date: string, source: string): string {
  const blocks = Object.entries(lists).map(([manifest, { models, about = {}, ...rest }]) => {
    const rows = (part: object): string[] =>
      Object.entries(part).map(([id, value]) => `      ${flow(id)}: ${flow(value)}`);
    const head = Object.entries(rest).map(([key, value]) => `    ${key}: ${flow(value)}`);
    const facts = Object.keys(about).length > 0 ? ['    about:', ...rows(about)] : [];
    const prices = Object.keys(models).length > 0 ? ['    models:', ...rows(models)] : [];
    return [`  ${manifest}:`, ...head, ...prices, ...facts].join('\n');
  });
  const head = [
    `# List prices of ${date} from ${source}, written by \`tollgate prices update\`.`,
    '# `price: list` in gateway.yaml takes them, and those that ship for models that are not here.',
    '# Compare them with the pages of the providers before you sell by them.',
  ];
  return `${head.join('\n')}\nlists:\n${blocks.join('\n')}\n`;
}
