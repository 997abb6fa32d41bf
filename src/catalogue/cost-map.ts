import { WEEKDAYS } from '../core/model.js';
import { isRecord } from '../lib/objects.js';
import { validatorOfShipped } from '../lib/schemas.js';
import type { CostMapEntry } from '../schema-types/cost-map.js';
import type { ListedPrice } from '../schema-types/prices.js';
import {
  abilitiesOf,
  addModel,
  dollarsOf,
  soundPrice,
  type CatalogueFormat,
  type CatalogueModel,
} from './catalogue.js';

/** A map of costs for one token, by the provider's name and the model's ID. */
export const COST_MAP: CatalogueFormat = {
  name: 'a map of costs',
  isFormatOf(value) {
    return Object.values(value).some((entry) => isRecord(entry) && 'litellm_provider' in entry);
  },
  read(value) {
    const models = new Map<string, Map<string, CatalogueModel>>();
    const isEntry = validatorOfShipped('cost-map', 'input');
    const by_size: (readonly [provider: string, id: string])[] = [];
    let skipped = 0;
    for (const [key, entry] of Object.entries(value)) {
      if (!isEntry(entry)) skipped += 1;
      else {
        const known = entry as CostMapEntry;
        const provider = known.litellm_provider;
        const id = modelId(key, provider);
        const bare = id.replace(VARIANTS, '');
        if (bare === id) addModel(models, provider, id, modelOf(known));
        else if (SIZE.test(id)) by_size.push([provider, bare]);
      }
    }
    // One price would be wrong for all sizes but one.
    for (const [provider, id] of by_size) {
      const model = models.get(provider)?.get(id);
      if (model?.price?.per_image !== undefined) delete model.price;
    }
    return { models, skipped };
  },
};

/** The provider's own ID: without the provider in front, whose name may have a family behind. */
function modelId(key: string, provider: string): string {
  const fronts = [provider, provider.split(/-|_converse/u, 1)[0] ?? ''];
  const front = fronts.find((one) => key.startsWith(`${one}/`));
  return front === undefined ? key : key.slice(front.length + 1);
}

/** A size, a quality or a region in front of an ID, and models tuned for a customer. */
const VARIANT = String.raw`\d+-x-\d+|hd|standard|low|medium|high|auto|global[\w-]*`;
const REGION = String.raw`us|eu|apac|jp|au|(?:us|eu|ap|ca|sa|me|af|il)-[\w-]+`;
const VARIANTS = new RegExp(`^ft:|^(?:(?:${VARIANT}|${REGION})/)+`, 'u');
const SIZE = /(?:^|\/)(?:\d+-x-\d+|hd|low|medium|high)\//u;

function modelOf(entry: CostMapEntry): CatalogueModel {
  const price = priceOf(entry);
  const { max_input_tokens: context, max_output_tokens: max_tokens } = entry;
  const said = {
    tools: entry.supports_function_calling,
    reasoning: entry.supports_reasoning,
    vision: entry.supports_vision,
    audio: entry.supports_audio_input,
    file: entry.supports_pdf_input,
  };
  return {
    ...(price && { price }),
    facts: {
      ...(context && { context: Math.floor(context) }),
      ...(max_tokens && entry.mode !== 'embedding' && { max_tokens: Math.floor(max_tokens) }),
      ...abilitiesOf(said),
      ...(entry.deprecation_date && { retires: entry.deprecation_date }),
    },
  };
}

const UNITS = [
  ['input_per_million', 'input_cost_per_token'],
  ['cached_input_per_million', 'cache_read_input_token_cost'],
  ['cache_write_per_million', 'cache_creation_input_token_cost'],
  ['cache_write_1h_per_million', 'cache_creation_input_token_cost_above_1hr'],
  ['audio_input_per_million', 'input_cost_per_audio_token'],
  ['image_input_per_million', 'input_cost_per_image_token'],
  ['output_per_million', 'output_cost_per_token'],
  ['audio_output_per_million', 'output_cost_per_audio_token'],
  ['image_output_per_million', 'output_cost_per_image_token'],
] as const;

const MILLION = 1e6;
const SECONDS = 60;

/** Undefined for work and prices that no unit can say. */
function priceOf(entry: CostMapEntry): ListedPrice | undefined {
  const cost = (key: string): number => {
    const value = entry[key];
    return typeof value === 'number' ? value : 0;
  };
  const one = (unit: keyof ListedPrice, key: string, times: number): ListedPrice | undefined => {
    const isByTokens = cost('input_cost_per_token') > 0;
    const isByKind = Object.keys(entry).some((name) => name.startsWith(`${key}_`));
    if (isByTokens || isByKind || cost(key) === 0) return undefined;
    return { [unit]: dollarsOf(cost(key), times) };
  };
  switch (entry.mode) {
    case 'chat':
    case 'completion':
    case 'responses':
    case 'embedding':
      return tokensPrice(entry, cost);
    case 'image_generation':
      return cost('output_cost_per_image_token') > 0 && cost('input_cost_per_token') > 0
        ? tokensPrice(entry, cost)
        : one('per_image', 'output_cost_per_image', 1);
    case 'audio_speech':
      return one('per_million_characters', 'input_cost_per_character', MILLION);
    case 'audio_transcription':
      return one('per_audio_minute', 'input_cost_per_second', SECONDS);
    case 'video_generation':
      return one('per_video_second', 'output_cost_per_second', 1);
    default:
      return undefined;
  }
}

const BAND = /^input_cost_per_token_above_(\d+)k_tokens$/u;

function tokensPrice(entry: CostMapEntry, cost: (key: string) => number): ListedPrice | undefined {
  const bands = Object.keys(entry).flatMap((key) => BAND.exec(key)?.[1] ?? []);
  const [band, ...further] = bands;
  const reasoning = cost('output_cost_per_reasoning_token');
  const isDearer = reasoning > 0 && reasoning !== cost('output_cost_per_token');
  if (further.length > 0 || isDearer || entry.tiered_pricing) return undefined;
  const card = (suffix: string): ListedPrice => {
    const units = UNITS.flatMap(([unit, key]) => {
      const dollars = cost(key + suffix);
      return dollars > 0 ? [[unit, dollarsOf(dollars, MILLION)]] : [];
    });
    const prices = Object.fromEntries(units) as ListedPrice;
    // Some models make nothing but images.
    const { image_output_per_million: image, output_per_million: output = image } = prices;
    return output === undefined ? prices : { ...prices, output_per_million: output };
  };
  const plain = card('');
  const isComplete = plain.output_per_million !== undefined || entry.mode === 'embedding';
  if (!isComplete) return undefined;
  const longCard = (tier: string): Pick<ListedPrice, 'long_prompt'> => {
    if (band === undefined) return {};
    const long = card(`_above_${band}k_tokens${tier}`);
    const above_tokens = Number(band) * 1_000;
    return Object.keys(long).length > 0 ? { long_prompt: { above_tokens, ...long } } : {};
  };
  const tiers = TIERS.flatMap((tier) => {
    const own = card(`_${tier}`);
    // What a tier lacks would cost as much as without it.
    const isTier = MAIN.every((unit) => (own[unit] === undefined) === (plain[unit] === undefined));
    return isTier ? [[tier, { ...own, ...longCard(`_${tier}`) }] as const] : [];
  });
  const off_peak = entry.off_peak_pricing && offPeakOf(entry.off_peak_pricing);
  return soundPrice({
    ...plain,
    ...longCard(''),
    ...(tiers.length > 0 && { tiers: Object.fromEntries(tiers) }),
    ...(off_peak && { off_peak }),
  });
}

/** The units of which a tier needs a price where there is one without it. */
const MAIN = ['input_per_million', 'output_per_million', 'image_output_per_million'] as const;

/** The service tiers that an answer may name; calls in batches are none. */
const TIERS = ['flex', 'priority'];

type OffPeakEntry = NonNullable<CostMapEntry['off_peak_pricing']>;

/** A block for each window; undefined if its days are of another zone than its hours. */
function offPeakOf(entry: OffPeakEntry): ListedPrice['off_peak'] {
  const { windows, weekday_timezone = 'UTC', ...costs } = entry;
  const units = UNITS.flatMap(([unit, key]) => {
    const dollars = Reflect.get(costs, key) as number | undefined;
    return dollars ? [[unit, dollarsOf(dollars, MILLION)] as const] : [];
  });
  const blocks = windows.flatMap(({ hours_utc, weekdays }) => {
    return [hours_utc].flat().map((hours) => {
      const [from = '', to = ''] = hours.split('-');
      const isWhole = from === to;
      const days = weekdays?.flatMap((day) => WEEKDAYS[day - 1] ?? []);
      return {
        ...((days ?? isWhole) && { days: days ?? [...WEEKDAYS] }),
        ...(!isWhole && { from, to }),
        zone: 'UTC',
        ...Object.fromEntries(units),
      };
    });
  });
  const isSayable = weekday_timezone === 'UTC' && blocks.length > 0 && units.length > 0;
  if (!isSayable) return undefined;
  return blocks.length === 1 ? blocks[0] : blocks;
}
