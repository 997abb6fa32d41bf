import { isRecord } from '../lib/objects.js';
import { validatorOfShipped } from '../lib/schemas.js';
import type { ListedPrice } from '../schema-types/prices.js';
import type { ModelsDevEntry } from '../schema-types/models-dev.js';
import {
  abilitiesOf,
  addModel,
  dollarsOf,
  soundPrice,
  type CatalogueFormat,
  type CatalogueModel,
} from './catalogue.js';

/** The catalogue of models.dev: providers by name, each with its models by ID. */
export const MODELS_DEV: CatalogueFormat = {
  name: 'models.dev',
  isFormatOf(value) {
    const [first] = Object.values(value);
    return isRecord(first) && isRecord(first.models);
  },
  read(value) {
    const models = new Map<string, Map<string, CatalogueModel>>();
    const isEntry = validatorOfShipped('models-dev', 'input');
    let skipped = 0;
    for (const [provider, entry] of Object.entries(value)) {
      if (!isRecord(entry) || !isRecord(entry.models)) continue;
      for (const [id, model] of Object.entries(entry.models)) {
        if (isEntry(model)) addModel(models, provider, id, modelOf(model as ModelsDevEntry));
        else skipped += 1;
      }
    }
    return { models, skipped };
  },
};

function modelOf(entry: ModelsDevEntry): CatalogueModel {
  const { tool_call: tools, reasoning, modalities, limit = {}, status } = entry;
  const takes = modalities?.input;
  const said = {
    tools,
    reasoning,
    vision: takes?.includes('image'),
    audio: takes?.includes('audio'),
    file: takes?.includes('pdf'),
  };
  const price = priceOf(entry);
  return {
    ...(price && { price }),
    facts: {
      ...(limit.context && { context: limit.context }),
      ...(limit.output && { max_tokens: limit.output }),
      ...abilitiesOf(said),
      ...(status === 'deprecated' && { gone: true as const }),
    },
  };
}

type Costs = Readonly<Partial<Record<(typeof UNITS)[number][1], number>>>;

const UNITS = [
  ['input_per_million', 'input'],
  ['cached_input_per_million', 'cache_read'],
  ['cache_write_per_million', 'cache_write'],
  ['audio_input_per_million', 'input_audio'],
  ['output_per_million', 'output'],
  ['audio_output_per_million', 'output_audio'],
] as const;

/** Undefined for prices that a price cannot say: dearer reasoning, and more than one long band. */
function priceOf(entry: ModelsDevEntry): ListedPrice | undefined {
  const { cost } = entry;
  const { tiers: [long, ...further] = [], reasoning } = cost ?? {};
  const isDearer = reasoning !== undefined && reasoning !== cost?.output;
  if (!cost || isDearer || further.length > 0) return undefined;
  const modes = Object.values(entry.experimental?.modes ?? {}).flatMap((mode) => {
    const tier = mode.provider?.body?.service_tier;
    return tier !== undefined && mode.cost ? [[tier, unitsOf(mode.cost)] as const] : [];
  });
  return soundPrice({
    ...unitsOf(cost),
    ...(modes.length > 0 && { tiers: Object.fromEntries(modes) }),
    ...(long && { long_prompt: { above_tokens: long.tier.size, ...unitsOf(long) } }),
  });
}

function unitsOf(costs: Costs): ListedPrice {
  const units = UNITS.flatMap(([unit, key]) => {
    const dollars = costs[key];
    return dollars === undefined ? [] : [[unit, dollarsOf(dollars)]];
  });
  return Object.fromEntries(units) as ListedPrice;
}
