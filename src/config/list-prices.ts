import { join as joinPath } from 'node:path';
import type { Price } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import { packageRoot } from '../lib/package-root.js';
import type { Modalities } from '../pipeline/modality.js';
import { formatDollars } from '../lib/money.js';
import { memoizeByObject } from '../lib/objects.js';
import { parseJson } from '../lib/json-text.js';
import type { PriceBounds } from '../schema-types/price-bounds.js';
import type { ListedPrice, ListPrices as PricesFile, ModelFacts } from '../schema-types/prices.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import { unreadable } from '../yaml/unreadable.js';
import { ModelNames, withoutDate } from './model-names.js';
import { validate } from '../yaml/validate.js';
import { readPrice } from './prices.js';

const EXAMPLE_PRICE = 'such as { input_per_million: 0.15, output_per_million: 0.60 }';

/** The list price of one model. */
export interface ListPrice {
  /** The model as the list names it; a dated snapshot of it has the same price. */
  model: string;
  /** The day on which the source had this price, `2026-11-05`. */
  date: string;
  price: Price;
  units: readonly string[];
  /** As the list has it, in dollars. */
  entry: ListedPrice;
}

interface Target {
  provider: Pick<Provider, 'manifest'>;
  model: string;
}

/** A price with which that of an upstream can be compared, whoever has it. */
export interface PriceReference {
  model: string;
  /** The day on which its source had this price. */
  date: string;
  /** Dollars by unit: the lowest and the highest for the model. */
  amounts: ReadonlyMap<string, readonly [lowest: number, highest: number]>;
  /** How many times it, or what part of it, is most likely a slip. */
  far: number;
  /** The list price of the provider itself, or of another one. */
  listed?: ListPrice;
}

/** What a list has of one model. */
interface ListedModel {
  price: ListedPrice | undefined;
  facts: ModelFacts;
  date: string;
}

/** The models of one manifest by their IDs, a snapshot of any date under its bare name. */
interface ModelList {
  open_weights: boolean;
  resells: boolean;
  models: ReadonlyMap<string, ListedModel>;
}

/** List prices by manifest and by the provider's own model ID. */
export class ListPrices {
  readonly #names = new Map<string, ModelNames>();
  readonly #lists: ReadonlyMap<string, ModelList>;
  /** The models with a rough price, a longer name before the one that it begins with. */
  readonly #families: readonly string[];
  #elsewhere: ReadonlyMap<string, Target> | undefined;

  /** `files` are lists, each with the models that those before it lack. */
  constructor(
    files: readonly PricesFile[],
    readonly bounds: PriceBounds,
  ) {
    this.#lists = listsIn(files);
    const families = Object.keys(bounds.rough.models).map((name) => name.split(' ', 1)[0] ?? name);
    this.#families = [...new Set(families)].toSorted((a, b) => b.length - a.length);
  }

  /** Whether the list has models of a manifest. */
  has(manifest: string): boolean {
    return this.#lists.has(manifest);
  }

  /** The models of a manifest. */
  modelsOf(manifest: string): readonly string[] {
    return [...(this.#lists.get(manifest)?.models.keys() ?? [])];
  }

  /** The maker that lists a model first. */
  ownerOf(model: string): string | undefined {
    const bare = withoutDate(model);
    const makers = [...this.#lists].filter(([, { resells }]) => !resells);
    return makers.find(([, { models }]) => models.get(bare)?.price)?.[0];
  }

  /** Whether the list has a model of another manifest at this one too, which then sells those. */
  sells(manifest: string, owner: string): boolean {
    const [sold, owned] = [manifest, owner].map((name) => this.#lists.get(name)?.models);
    return [...(sold?.keys() ?? [])].some((model) => owned?.has(model));
  }

  /** The main prices of a model, whoever lists it first; undefined if none. */
  writtenOf(model: string): string | undefined {
    const owner = this.ownerOf(model);
    const { price } = this.#lists.get(owner ?? '')?.models.get(withoutDate(model)) ?? {};
    const amounts = (['input_per_million', 'output_per_million'] as const).flatMap((unit) => {
      const dollars = price?.[unit];
      return dollars === undefined ? [] : [`${unit}: ${dollarsText(dollars)}`];
    });
    return amounts.length > 0 ? `{ ${amounts.join(', ')} }` : undefined;
  }

  find({ provider, model }: Target, modalities: Modalities): ListPrice | undefined {
    const [name, { price: entry, date = '' } = {}] = this.#named(provider.manifest, model);
    if (!entry) return undefined;
    const price = priceOfEntry(modalities)(entry);
    return { model: name, date, price, units: Object.keys(entry), entry };
  }

  /** What is known of a model beside its price. */
  factsOf({ provider, model }: Target): ModelFacts | undefined {
    return this.#named(provider.manifest, model)[1]?.facts;
  }

  #named(manifest: string, model: string): readonly [name: string, found: ListedModel | undefined] {
    const models = this.#lists.get(manifest)?.models;
    const bare = withoutDate(model);
    const own = models?.get(model);
    return own ? [model, own] : [bare, models?.get(bare)];
  }

  /** The amount of a unit of a list price; undefined if it has none. */
  amountOf({ entry }: ListPrice, unit: string): string | undefined {
    const dollars: unknown = Reflect.get(entry, unit);
    return typeof dollars === 'number' ? dollarsText(dollars) : undefined;
  }

  /** The list price that another provider of the file has for a model of the same name. */
  findElsewhere(model: string, modalities: Modalities): ListPrice | undefined {
    const bare = model.slice(model.lastIndexOf('/') + 1);
    const manifest = this.ownerOf(bare);
    if (manifest === undefined) return undefined;
    return this.find({ provider: { manifest }, model: bare }, modalities);
  }

  /**
   * The reference of an upstream: the list price that its provider has, else that of the same model
   * at another one, else the rough price of a model that is not sold by tokens. A deployment has a
   * name of its own, so `id`, by which clients know the model, counts where its own says nothing.
   */
  reference(target: Target, id: string, modalities: Modalities): PriceReference | undefined {
    const own = this.find(target, modalities);
    if (own) return withMore(referenceTo(own, this.bounds.far), this.#rough(target.model));
    const [same] = [target.model, id].flatMap((name) => {
      return namesOf(name).flatMap((one) => this.#others.get(one) ?? []);
    });
    const listed = same && this.find(same, modalities);
    const isOpen = same && this.#lists.get(same.provider.manifest)?.open_weights;
    const { far, far_elsewhere } = this.bounds;
    if (listed) return referenceTo(listed, isOpen ? far_elsewhere : far);
    return this.#rough(target.model) ?? this.#rough(id);
  }

  /** The models of makers by the parts of their names, those that one alone sells first. */
  get #others(): ReadonlyMap<string, Target> {
    if (this.#elsewhere) return this.#elsewhere;
    const all = new Map<string, Target>();
    const makers = [...this.#lists].filter(([, { resells }]) => !resells);
    const lists = makers.toSorted(
      ([, one], [, other]) => Number(one.open_weights) - Number(other.open_weights),
    );
    for (const depth of [0, 1]) {
      for (const [manifest, { models }] of lists) {
        for (const [model, { price }] of models) {
          if (!price) continue;
          const name = namesOf(model)[depth];
          if (name !== undefined && !all.has(name))
            all.set(name, { provider: { manifest }, model });
        }
      }
    }
    this.#elsewhere = all;
    return all;
  }

  #rough(name: string): PriceReference | undefined {
    const { date, models } = this.bounds.rough;
    const bare = `${name.slice(name.lastIndexOf('/') + 1).toLowerCase()}-`;
    const family = this.#families.find((one) => bare.startsWith(`${one}-`));
    if (family === undefined) return undefined;
    const amounts = Object.entries(models).flatMap(([key, units]) => {
      const [own, quality] = key.split(' ');
      const kind = quality === undefined ? '' : ` ${quality}`;
      if (own !== family) return [];
      return Object.entries(units).map(([unit, [low = 0, high = 0]]) => {
        return [unit + kind, [low, high]] as const;
      });
    });
    return { model: family, date, amounts: new Map(amounts), far: this.bounds.far };
  }

  /** The hint for a model without a list price. */
  hint({ provider, model }: Target & { provider: Pick<Provider, 'base_url'> }): string {
    const known = this.#lists.get(provider.manifest);
    if (known) {
      const near = nameHint(model, [...known.models.keys()]);
      return near.startsWith('did')
        ? `${near} Else write the prices, ${EXAMPLE_PRICE}`
        : `write the prices, ${EXAMPLE_PRICE}; ${near}`;
    }
    // Providers are reached by TLS; a server without it is most likely the operator's own.
    if (provider.base_url.startsWith('http:')) {
      return `write price: free if the server is your own, else the prices, ${EXAMPLE_PRICE}`;
    }
    const listed = [...this.#lists.keys()].join(', ');
    return `write the prices, ${EXAMPLE_PRICE}: the list has those of ${listed}`;
  }

  /** The models of a manifest that have a list price, and the further ones that it names itself. */
  names(manifest: string, further: readonly string[]): ModelNames {
    let names = this.#names.get(manifest);
    if (!names) {
      const listed = this.#lists.get(manifest)?.models.keys() ?? [];
      names = new ModelNames([...new Set([...further, ...listed])]);
      this.#names.set(manifest, names);
    }
    return names;
  }
}

function referenceTo(listed: ListPrice, far: number): PriceReference {
  const { model, date, entry } = listed;
  const amounts = new Map<string, readonly [number, number]>();
  for (const [unit, dollars] of Object.entries(entry)) {
    if (typeof dollars === 'number') amounts.set(unit, [dollars, dollars]);
  }
  // Who sells images alone may write their price as that of output.
  const { output_per_million: output, image_output_per_million: image } = entry;
  if (output && image) amounts.set('output_per_million', [output, Math.max(output, image)]);
  return { model, date, amounts, far, listed };
}

/** A list price with the rough prices of units that it lacks: images may be sold by tokens too. */
function withMore(listed: PriceReference, rough: PriceReference | undefined): PriceReference {
  return rough ? { ...listed, amounts: new Map([...rough.amounts, ...listed.amounts]) } : listed;
}

const NANO = 1e9;

/** The vendor of a model in front of its ID, as resellers and clouds write it. */
const VENDOR =
  /^.*\/|^(?:[a-z-]+\.)?(?:amazon|anthropic|cohere|deepseek|google|meta|mistral|openai)\./;

/**
 * The names by which a model is known at all providers: with its date, and without. None for one
 * that a provider gives away.
 */
function namesOf(model: string): string[] {
  const id = model.toLowerCase();
  if (id.endsWith(':free')) return [];
  const bare = id.replace(VENDOR, '').replace(/(?:-v\d+)?(?::\w+)?$/, '');
  return [bare, withoutDate(bare).replace(/-latest$/, '')].map((one) =>
    one.replaceAll(/[^a-z0-9]/g, ''),
  );
}

/** The models of all files, those of an earlier file in the place of the same ones of a later. */
function listsIn(files: readonly PricesFile[]): Map<string, ModelList> {
  const lists = new Map<string, ModelList>();
  for (const [manifest, list] of files.flatMap(({ lists: all }) => Object.entries(all))) {
    const known = lists.get(manifest);
    const models = new Map(known?.models);
    const { about = {} } = list;
    for (const id of new Set([...Object.keys(list.models), ...Object.keys(about)])) {
      const { date = list.date, ...facts } = about[id] ?? {};
      if (!models.has(id)) models.set(id, { price: list.models[id], facts, date });
    }
    const open_weights = known?.open_weights ?? list.open_weights ?? false;
    const resells = known?.resells ?? list.resells ?? false;
    lists.set(manifest, { open_weights, resells, models });
  }
  return lists;
}

/** The price of an entry of a list, in nano-dollars. */
const priceOfEntry = memoizeByObject((modalities: Modalities) =>
  memoizeByObject((entry: ListedPrice): Price => {
    const text = JSON.stringify({ price: entry });
    const source = parse('prices', text, new Report(), { env: {}, directory: '' });
    return readPrice(source, '/price', entry, modalities);
  }),
);

function dollarsText(dollars: number): string {
  return formatDollars(BigInt(Math.round(dollars * NANO)));
}

/** The list that an operator keeps beside gateway.yaml: `tollgate prices update` writes it. */
export const OWN_LIST = 'prices.yaml';

interface Shipped {
  list: PricesFile;
  bounds: PriceBounds;
}

let shipped: Promise<Shipped> | undefined;

/** What ships with the gateway. It is read once. */
async function readShipped(): Promise<Shipped> {
  const folder = joinPath(packageRoot, 'providers', 'prices');
  const file = joinPath(folder, 'bounds.yaml');
  const report = new Report();
  const bounds = await readYaml(file, report, 'price-bounds');
  const [fault] = report.sorted(file);
  if (fault) throw new Error(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
  // Made by a script, and checked by a test: to check it would make each start longer.
  const list = parseJson(await readRegular(joinPath(folder, 'list.json')));
  return { list: list as PricesFile, bounds: bounds as PriceBounds };
}

/** The list prices that ship with the gateway. */
export function shippedPrices(): Promise<ListPrices> {
  return pricesWith(undefined);
}

/**
 * The list prices for the gateway.yaml of a folder: those of the list beside it where that has the
 * model, else those that ship. The faults of the list beside it go to the report.
 */
export async function pricesBeside(directory: string, report: Report): Promise<ListPrices> {
  return pricesWith(await readOwnList(directory, report));
}

/** The list prices of a list of the operator's own where it has the model, else those that ship. */
export async function pricesWith(own: PricesFile | undefined): Promise<ListPrices> {
  const { list, bounds } = await (shipped ??= readShipped());
  return new ListPrices(own ? [own, list] : [list], bounds);
}

/** Reads the list beside gateway.yaml. Undefined if there is none, or if it has a fault. */
export async function readOwnList(
  directory: string,
  report: Report,
): Promise<PricesFile | undefined> {
  const file = joinPath(directory, OWN_LIST);
  const before = report.sorted(file).length;
  try {
    const data = await readYaml(file, report, 'prices');
    return report.sorted(file).length > before ? undefined : (data as PricesFile);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unreadable(file, error);
  }
}

async function readYaml<Name extends 'prices' | 'price-bounds'>(
  file: string,
  report: Report,
  schema: Name,
) {
  const source = parse(file, await readRegular(file), report, { env: {}, directory: '' });
  return source.readable ? validate(source, schema) : {};
}
