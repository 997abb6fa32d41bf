import type { ListedPrice, ModelFacts } from '../schema-types/prices.js';

/** A model as a public catalogue has it. */
export interface CatalogueModel {
  /** Absent where the catalogue has none, or one that no unit of a price can say. */
  price?: ListedPrice;
  facts: ModelFacts;
}

/** The models of a catalogue, by the name that it has for their provider, and by their IDs. */
export type Catalogue = ReadonlyMap<string, ReadonlyMap<string, CatalogueModel>>;

/** The format of a catalogue: whether a value is one, and what it says. */
export interface CatalogueFormat {
  name: string;
  isFormatOf(value: Readonly<Record<string, unknown>>): boolean;
  /** `skipped` counts the entries that are not as the schema has them. */
  read(value: Readonly<Record<string, unknown>>): { models: Catalogue; skipped: number };
}

/** Puts a model into its place. */
export function addModel(
  models: Map<string, Map<string, CatalogueModel>>,
  provider: string,
  id: string,
  model: CatalogueModel,
): void {
  const known = models.get(provider) ?? new Map<string, CatalogueModel>();
  models.set(provider, known.set(id, model));
}

/** Dollars for a million, without the noise of a product of floats. */
export function dollarsOf(amount: number, times = 1): number {
  return Number(Number((amount * times).toPrecision(12)).toFixed(9));
}

/**
 * The price of tokens, if it is one: zero for input is no price but an unknown one. A class that
 * costs nothing, or as much as the input or the output that it is part of, has none of its own.
 */
export function soundPrice(price: ListedPrice): ListedPrice | undefined {
  const { input_per_million: input = 0, output_per_million: output = 0 } = price;
  const { long_prompt, tiers, off_peak } = price;
  if (input === 0) return undefined;
  const entries = Object.entries(price).filter(([unit, dollars]) => {
    if (typeof dollars !== 'number') return false;
    if (unit === 'input_per_million') return true;
    const whole = unit.includes('output') ? output : input;
    return dollars > 0 && (unit === 'output_per_million' || dollars !== whole);
  });
  // A long prompt pays what it says, and else what a short one does.
  const long = Object.entries(long_prompt ?? {}).filter(([, dollars]) => dollars > 0);
  return {
    ...Object.fromEntries(entries),
    ...(long.length > 1 && { long_prompt: Object.fromEntries(long) }),
    ...(tiers && { tiers }),
    ...(off_peak && { off_peak }),
  } as ListedPrice;
}

/** What a model has and lacks, of abilities that a catalogue says yes or no to. */
export function abilitiesOf(
  said: Readonly<Partial<Record<Ability, boolean | undefined>>>,
): Pick<ModelFacts, 'has' | 'lacks'> {
  const named = (wanted: boolean): Ability[] => {
    return ABILITIES.filter((ability) => said[ability] === wanted);
  };
  const [has, lacks] = [named(true), named(false)];
  return { ...(has.length > 0 && { has }), ...(lacks.length > 0 && { lacks }) };
}

export type Ability = NonNullable<ModelFacts['has']>[number];

const ABILITIES: readonly Ability[] = ['tools', 'vision', 'audio', 'file', 'reasoning'];
