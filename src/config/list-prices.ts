import { join as joinPath } from 'node:path';
import type { Price } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import { packageRoot } from '../lib/package-root.js';
import type { Modalities } from '../pipeline/modality.js';
import type { ListPrices as PricesFile } from '../schema-types/prices.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import { pointer as join, type Source } from '../yaml/source.js';
import { ModelNames, withoutDate } from './model-names.js';
import { validate, type PartialLoad } from '../yaml/validate.js';
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

/** List prices by manifest and by the provider's own model ID. */
export class ListPrices {
  readonly #names = new Map<string, ModelNames>();

  constructor(
    /** All manifests that have list prices, also those whose prices were not read. */
    private readonly manifests: readonly string[],
    private readonly source: Source,
    private readonly data: PartialLoad<PricesFile>,
    /** The whole file, also the blocks that were not read. */
    private readonly text: string,
  ) {}

  /** Whether the list has models of a manifest. */
  has(manifest: string): boolean {
    return this.manifests.includes(manifest);
  }

  /** The manifest that lists a model, of all in the file. */
  ownerOf(model: string): string | undefined {
    const line = `\n    ${withoutDate(model)}: {`;
    return [...this.text.matchAll(BLOCK)].find(([block]) => block.includes(line))?.[1];
  }

  /** Whether the list has a model of another manifest at this one too, which then sells those. */
  sells(manifest: string, owner: string): boolean {
    const sold = Object.keys(this.#of(manifest)?.models ?? {});
    const [block = ''] = [...this.text.matchAll(BLOCK)].find(([, name]) => name === owner) ?? [];
    return sold.some((model) => block.includes(`\n    ${model}: {`));
  }

  /** The main prices of a model, whoever lists it first, as they are written; undefined if none. */
  writtenOf(model: string): string | undefined {
    const start = this.text.indexOf(`\n    ${withoutDate(model)}: {`);
    if (start < 0) return undefined;
    const line = this.text.slice(start + 1, this.text.indexOf('\n', start + 1));
    const units = ['input_per_million', 'output_per_million'];
    const amounts = units.flatMap((unit) => {
      return new RegExp(`(?<=[{,] )${unit}: [\\d.]+`).exec(line)?.[0] ?? [];
    });
    return amounts.length > 0 ? `{ ${amounts.join(', ')} }` : undefined;
  }

  find({ provider, model }: Target, modalities: Modalities): ListPrice | undefined {
    const { date = '', models = {} } = this.#of(provider.manifest) ?? {};
    const name = [model, withoutDate(model)].find((one) => Object.hasOwn(models, one));
    const entry = name === undefined ? undefined : models[name];
    if (name === undefined || entry === undefined) return undefined;
    const pointer = join(provider.manifest, 'models', name);
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
    for (const manifest of Object.keys(this.data)) {
      const found = this.find({ provider: { manifest }, model: bare }, modalities);
      if (found) return found;
    }
    return undefined;
  }

  /** The hint for a model without a list price. */
  hint({ provider, model }: Target & { provider: Pick<Provider, 'base_url'> }): string {
    const known = this.#of(provider.manifest);
    if (known) {
      const near = nameHint(model, Object.keys(known.models ?? {}));
      return near.startsWith('did')
        ? `${near} Else write the prices, ${EXAMPLE_PRICE}`
        : `write the prices, ${EXAMPLE_PRICE}; ${near}`;
    }
    // Providers are reached by TLS; a server without it is most likely the operator's own.
    if (provider.base_url.startsWith('http:')) {
      return `write price: free if the server is your own, else the prices, ${EXAMPLE_PRICE}`;
    }
    return `write the prices, ${EXAMPLE_PRICE}: the list has those of ${this.manifests.join(', ')}`;
  }

  /** The models of a manifest that have a list price, and the further ones that it names itself. */
  names(manifest: string, further: readonly string[]): ModelNames {
    let names = this.#names.get(manifest);
    if (!names) {
      const listed = Object.keys(this.#of(manifest)?.models ?? {});
      names = new ModelNames([...listed, ...further]);
      this.#names.set(manifest, names);
    }
    return names;
  }

  #of(manifest: string): PartialLoad<PricesFile>[string] {
    return Object.hasOwn(this.data, manifest) ? this.data[manifest] : undefined;
  }
}

/** The list prices of the gateway's own file, by the manifests that they were read for. */
const shipped = new Map<string, Promise<ListPrices>>();

/** The list prices that ship with the gateway, of some manifests. They are read once. */
export function shippedPrices(manifests: readonly string[]): Promise<ListPrices> {
  const key = manifests.toSorted().join(' ');
  const known = shipped.get(key);
  const prices = known ?? readListPrices(joinPath(packageRoot, 'providers'), manifests);
  if (!known) shipped.set(key, prices);
  return prices;
}

/** A block of the file: the name of a manifest, and the lines up to the next name. */
const BLOCK = /^([a-z0-9][a-z0-9-]*):.*\n(?:[ \t#].*\n|\n)*/gmu;

/**
 * Reads the `prices.yaml` of a folder; of its blocks only those of some manifests, as parsing all
 * of them would take as long as the rest of a start. Throws where one of these has a fault.
 */
export async function readListPrices(
  folder: string,
  manifests?: readonly string[],
): Promise<ListPrices> {
  const file = joinPath(folder, `${PRICES_NAME}.yaml`);
  const text = await readRegular(file);
  const listed = [...text.matchAll(BLOCK)].map(([, name = '']) => name);
  const wanted = listed.filter((name) => manifests?.includes(name) ?? true);
  const report = new Report();
  const selected = text.replaceAll(BLOCK, (block, name: string) =>
    // The lines that follow keep their numbers.
    wanted.includes(name) ? block : '\n'.repeat(block.split('\n').length - 1),
  );
  const source = parse(file, selected, report, { env: {}, directory: folder });
  const data = wanted.length > 0 && source.readable ? validate(source, 'prices') : {};
  const [fault] = report.sorted(file);
  if (fault && wanted.length > 0) {
    throw new Error(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
  }
  return new ListPrices(listed, source, data, text);
}
