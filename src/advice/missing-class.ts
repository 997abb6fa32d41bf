import type { FinishedFile } from '../config/load.js';
import { TOKEN_UNIT_FIELDS, TOKEN_UNITS } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { paysToCache } from '../modalities/chat/cache-marks.js';
import { quote, type Source } from '../yaml/source.js';
import type { Advice, Warning } from './advice.js';
import { paidPrices, type PaidPrice, type Payer } from './price-compare.js';

export const missingClass: Advice = {
  code: 'missing_price',
  saves: 'tokens of a dearer class, long prompts and fine images that are sold as plain ones',
  *check(view) {
    for (const paid of paidPrices(view)) {
      yield* cacheWrites(view.source, paid);
      yield* longPrompts(paid);
      yield* images(paid);
      yield* qualities(view.source, paid);
    }
    yield* idleCaches(view);
  },
};

function* cacheWrites(source: Source, { pointer, price, payers }: PaidPrice): Iterable<Warning> {
  const { cache_write_nano_per_million: own, input_nano_per_million: input } = price;
  if (own !== undefined || !source.has(`${pointer}/cached_input_per_million`)) return;
  for (const { reference } of payers) {
    const { cache_write_nano_per_million: cost = 0n } = reference?.listed?.price ?? {};
    if (!reference || cost <= input) continue;
    const written = `writing into the cache of ${quote(reference.model)} costs`;
    const charged = `this model charges ${formatDollars(input)}`;
    yield {
      pointer,
      message: `price: ${written} ${formatDollars(cost)}, and ${charged}`,
      hint: `add cache_write_per_million: ${formatDollars(cost)}`,
    };
    return;
  }
}

/** Models with `cache: auto` whose prices make no mark pay at any upstream. */
function* idleCaches({ models }: FinishedFile): Iterable<Warning> {
  for (const { pointer, model, upstreams } of models) {
    const isIdle = upstreams.every(({ upstream }) => !paysToCache(upstream.price));
    if (model.cache !== 'auto' || !isIdle) continue;
    yield {
      pointer: `${pointer}/cache`,
      message: 'cache: by its price, to write into a cache and read once saves nothing',
      hint: 'add cache_write_per_million and a lower cached_input_per_million to the price',
    };
  }
}

function* longPrompts({ pointer, price, payers, context }: PaidPrice): Iterable<Warning> {
  if (price.long_prompt) return;
  const { input_nano_per_million: input } = price;
  for (const { reference } of payers) {
    const { long_prompt: long, input_nano_per_million: list = 0n } = reference?.listed?.price ?? {};
    // A price that is far from the list has a warning for that.
    if (!reference || !long || input * 3n < list) continue;
    const { above_tokens, input_nano_per_million: cost = 0n } = long;
    if ((context ?? Infinity) <= above_tokens || input >= cost) continue;
    const units = TOKEN_UNIT_FIELDS.flatMap(([unit, field]) => {
      const nano = long[field];
      const isSold = price[field] !== undefined;
      return isSold && nano !== undefined ? [`${unit}: ${formatDollars(nano)}`] : [];
    });
    const costs = `of ${quote(reference.model)} cost ${formatDollars(cost)}`;
    const charged = `this model charges ${formatDollars(input)}`;
    yield {
      pointer,
      message: `price: prompts above ${above_tokens} tokens ${costs}, and ${charged}`,
      hint: `add long_prompt: { above_tokens: ${above_tokens}, ${units.join(', ')} }`,
    };
    return;
  }
}

const IMAGES = [
  ['image_input_per_million', 'input_per_million', 'that it reads'],
  ['image_output_per_million', 'output_per_million', 'that it makes'],
] as const;

function* images({ pointer, price, payers }: PaidPrice): Iterable<Warning> {
  // Work without output, such as embeddings, has no images.
  if (price.input_only) return;
  for (const [unit, whole, which] of IMAGES) {
    const charged = price[TOKEN_UNITS[whole]];
    if (price[TOKEN_UNITS[unit]] !== undefined || charged === 0n) continue;
    const costOf = ({ reference }: Payer): bigint =>
      reference?.listed?.price[TOKEN_UNITS[unit]] ?? 0n;
    const dear = payers.find((payer) => costOf(payer) > charged);
    if (!dear?.reference) continue;
    const cost = formatDollars(costOf(dear));
    const model = quote(dear.reference.model);
    const less = `this model charges ${formatDollars(charged)}`;
    yield {
      pointer,
      message: `price: images ${which} cost ${cost} at ${model}, and ${less}`,
      hint: `add ${unit}: ${cost}`,
    };
  }
}

/** The models that cost many times as much for an image of high quality as for one of low. */
const BY_QUALITY = /\bgpt-image\b/u;

function* qualities(source: Source, { pointer, price, payers }: PaidPrice): Iterable<Warning> {
  const place = `${pointer}/per_image`;
  if (!price.per_image?.has('any') || source.text(place) === undefined) return;
  for (const { at } of payers) {
    const { model, set } = at.upstream;
    if (!BY_QUALITY.test(model) || 'quality' in set) continue;
    yield {
      pointer: place,
      message: `per_image: one price is for every quality, and ${quote(model)} costs by quality`,
      hint: 'write { low: PRICE, standard: PRICE, hd: PRICE }, or set: { quality: medium } there',
    };
    return;
  }
}
