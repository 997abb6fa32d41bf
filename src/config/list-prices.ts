import { join as joinPath } from 'node:path';
import { tokenPrices } from '../billing/price-shape.js';
import type { Price } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import { packageRoot } from '../lib/package-root.js';
import type { Modalities } from '../pipeline/modality.js';
import type {
  ListPrices as PricesFile,
  PriceBounds,
  ProviderPrices,
} from '../schema-types/prices.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import { pointer as join, type Source } from '../yaml/source.js';
import { ModelNames, withoutDate } from './model-names.js';
import { validate } from '../yaml/validate.js';
import { readPrice } from './prices.js';

/** The file in `providers/` that is no manifest. */
export const PRICES_NAME = 'prices';

const EXAMPLE_PRICE = 'such as { input_per_million: 0.15, output_per_million: 0.60 }';

/** The list price of one model. */
export interface ListPrice {
  /** The model as the list names it; a dated snapshot of it has the same price. */
  model: string;
  /** The day on which the source had this price, `2026-11-05`. */
  date: string;
  price: Price;
  units: readonly string[];
  /** Its place in the list. */
  pointer: string;
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

/** List prices by manifest and by the provider's own model ID. */
export class ListPrices {
  readonly #names = new Map<string, ModelNames>();
  readonly #lists: ReadonlyMap<string, ProviderPrices>;
  /** The models with a rough price, a longer name before the one that it begins with. */
  readonly #families: readonly string[];
  #elsewhere: ReadonlyMap<string, Target> | undefined;

  constructor(
    private readonly source: Source,
    private readonly data: PricesFile,
  ) {
    this.#lists = new Map(Object.entries(data.lists));
    const families = Object.keys(data.rough.models).map((name) => name.split(' ', 1)[0] ?? name);
    this.#families = [...new Set(families)].toSorted((a, b) => b.length - a.length);
  }

  get bounds(): PriceBounds {
    return this.data.bounds;
  }

  /** Whether the list has models of a manifest. */
  has(manifest: string): boolean {
    return this.#lists.has(manifest);
  }

  /** The manifest that lists a model, of all in the file. */
  ownerOf(model: string): string | undefined {
    const bare = withoutDate(model);
    return [...this.#lists].find(([, { models }]) => Object.hasOwn(models, bare))?.[0];
  }

  /** Whether the list has a model of another manifest at this one too, which then sells those. */
  sells(manifest: string, owner: string): boolean {
    const [sold, owned] = [manifest, owner].map((name) => this.#lists.get(name)?.models ?? {});
    return Object.keys(sold ?? {}).some((model) => Object.hasOwn(owned ?? {}, model));
  }

  /** The main prices of a model, whoever lists it first, as they are written; undefined if none. */
  writtenOf(model: string): string | undefined {
    const owner = this.ownerOf(model);
    if (owner === undefined) return undefined;
    const pointer = join('lists', owner, 'models', withoutDate(model));
    const amounts = ['input_per_million', 'output_per_million'].flatMap((unit) => {
      const text = this.source.text(`${pointer}/${unit}`);
      return text === undefined ? [] : [`${unit}: ${text}`];
    });
    return amounts.length > 0 ? `{ ${amounts.join(', ')} }` : undefined;
  }

  find({ provider, model }: Target, modalities: Modalities): ListPrice | undefined {
    const { date = '', models = {} } = this.#lists.get(provider.manifest) ?? {};
    const name = [model, withoutDate(model)].find((one) => Object.hasOwn(models, one));
    const entry = name === undefined ? undefined : models[name];
    if (name === undefined || entry === undefined) return undefined;
    const pointer = join('lists', provider.manifest, 'models', name);
    const price = readPrice(this.source, pointer, entry, modalities);
    return { model: name, date, price, units: Object.keys(entry), pointer };
  }

  /** The amount of a unit of a list price, as it is written; undefined if it has none. */
  amountOf({ pointer }: ListPrice, unit: string): string | undefined {
    return this.source.text(`${pointer}/${unit}`);
  }

  /** The list price that another provider of the file has for a model of the same name. */
  findElsewhere(model: string, modalities: Modalities): ListPrice | undefined {
    const bare = model.slice(model.lastIndexOf('/') + 1);
    for (const manifest of this.#lists.keys()) {
      const found = this.find({ provider: { manifest }, model: bare }, modalities);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * The reference of an upstream: the list price that its provider has, else that of the same model
   * at another one, else the rough price of a model that is not sold by tokens. A deployment has a
   * name of its own, so `id`, by which clients know the model, counts where its own says nothing.
   */
  reference(target: Target, id: string, modalities: Modalities): PriceReference | undefined {
    const own = this.find(target, modalities);
    if (own) return referenceTo(own, this.bounds.far);
    const [same] = [target.model, id].flatMap((name) => {
      return namesOf(name).flatMap((one) => this.#others.get(one) ?? []);
    });
    const listed = same && this.find(same, modalities);
    const isOpen = same && this.#lists.get(same.provider.manifest)?.open_weights;
    const { far, far_elsewhere } = this.bounds;
    if (listed) return referenceTo(listed, isOpen ? far_elsewhere : far);
    return this.#rough(target.model) ?? this.#rough(id);
  }

  /** The listed models by the parts of their names, those that one provider alone sells first. */
  get #others(): ReadonlyMap<string, Target> {
    if (this.#elsewhere) return this.#elsewhere;
    const all = new Map<string, Target>();
    const lists = [...this.#lists].toSorted(
      ([, one], [, other]) =>
        Number(one.open_weights ?? false) - Number(other.open_weights ?? false),
    );
    for (const depth of [0, 1]) {
      for (const [manifest, { models }] of lists) {
        for (const model of Object.keys(models)) {
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
    const { date, models } = this.data.rough;
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
      const near = nameHint(model, Object.keys(known.models));
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
      const listed = Object.keys(this.#lists.get(manifest)?.models ?? {});
      names = new ModelNames([...listed, ...further]);
      this.#names.set(manifest, names);
    }
    return names;
  }
}

function referenceTo(listed: ListPrice, far: number): PriceReference {
  const { model, date, price } = listed;
  const image = price.per_image?.get('any');
  const tokens = price.free ? [] : tokenPrices(price);
  const all = image === undefined ? tokens : [...tokens, ['per_image', image] as const];
  const amounts = all.map(([unit, nano]) => {
    const dollars = Number(nano) / NANO;
    return [unit, [dollars, dollars]] as const;
  });
  return { model, date, amounts: new Map<string, readonly [number, number]>(amounts), far, listed };
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

let shipped: Promise<ListPrices> | undefined;

/** The list prices that ship with the gateway. They are read once. */
export function shippedPrices(): Promise<ListPrices> {
  shipped ??= readListPrices(joinPath(packageRoot, 'providers'));
  return shipped;
}

/** Reads the `prices.yaml` of a folder. Throws where it has a fault. */
export async function readListPrices(folder: string): Promise<ListPrices> {
  const file = joinPath(folder, `${PRICES_NAME}.yaml`);
  const text = await readRegular(file);
  const report = new Report();
  const source = parse(file, text, report, { env: {}, directory: folder });
  const data = source.readable ? validate(source, 'prices') : {};
  const [fault] = report.sorted(file);
  if (fault) throw new Error(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
  // Nothing was cut from it: it has no fault.
  return new ListPrices(source, data as PricesFile);
}
