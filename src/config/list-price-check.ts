import type { Capability, Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import type { Modalities } from '../pipeline/modality.js';
import { quote, type Source } from '../yaml/source.js';
import { checkFallbacks, checkFreeFallbacks } from './fallback-prices.js';
import type { ListPrice } from './list-prices.js';
import { listedWork } from './model-work.js';
import { checkOffList } from './off-list-price.js';
import { checkMagnitude } from './price-magnitude.js';
import { checkPriceOrder, placeOfKind } from './price-order.js';
import { missingUnits } from './prices.js';
import type { ReadUpstream } from './upstreams.js';

/**
 * Compares the prices of a model with the list: `price: list` must have a unit for each capability,
 * and any other price should not be far from the list.
 */
export function checkListPrices(
  source: Source,
  upstreams: readonly ReadUpstream[],
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
): void {
  for (const price_at of new Set(upstreams.map((one) => one.price_at))) {
    const payers = upstreams.filter((one) => one.price_at === price_at);
    const listed = payers.flatMap((one) => one.listed ?? []);
    const [first] = payers;
    if (source.text(price_at) === 'list') {
      for (const one of listed) checkListed(source, price_at, one, capabilities, modalities);
      checkTiers(source, payers);
    } else if (first) {
      checkOffList(source, price_at, first.upstream.price, payers);
      checkPriceOrder(source, price_at, first.upstream.price);
      checkFallbacks(source, first.upstream.price, payers);
      if (first.upstream.price.free) checkFreeFallbacks(source, payers);
      const isCachedListed = listed.some(
        ({ price }) => price.cached_input_nano_per_million !== undefined,
      );
      if (!isCachedListed) checkCached(source, price_at, first.upstream.price);
      if (listed.length === 0) checkSwapped(source, price_at, first.upstream.price);
      checkKinds(source, price_at, first.upstream.price);
      checkCacheWrites(
        source,
        price_at,
        first.upstream.price,
        first.listed ? [first.listed] : listed,
      );
    }
  }
}

/** Warns of a faster tier, which costs more than the list price that its model charges. */
function checkTiers(source: Source, payers: readonly ReadUpstream[]): void {
  for (const { pointer, upstream } of payers) {
    const place = `${pointer}/set/service_tier`;
    if (upstream.set['service_tier'] !== 'priority' || !source.has(place)) continue;
    source.fault(place, {
      code: 'price_off_list',
      message: 'service_tier: "priority" costs more than the list price, which this model charges',
      hint: 'write prices that cover it in place of list, or remove it',
      severity: 'warning',
    });
  }
}

function checkListed(
  source: Source,
  pointer: string,
  { model, units }: ListPrice,
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
): void {
  for (const [unit, capability] of missingUnits(units, capabilities, modalities)) {
    const missing = `the list price of ${quote(model)} has no ${quote(unit)}`;
    const message = `the capability ${quote(capability)} has no price: ${missing}`;
    const isInputOnly = unit === 'output_per_million';
    const work = isInputOnly ? listedWork(false, modalities) : undefined;
    const hint = work ? `write capabilities: [${work.name}]` : 'write the prices';
    source.fault(pointer, { code: 'missing_price', message, hint });
  }
}

/** Warns of cached input that costs more than other input, which no provider charges. */
function checkCached(source: Source, price_at: string, price: Price): void {
  const { cached_input_nano_per_million: cached, input_nano_per_million: input } = price;
  const place = `${price_at}/cached_input_per_million`;
  if (cached === undefined || input === 0n || cached <= input || !source.has(place)) return;
  source.fault(place, {
    code: 'dear_cache',
    message: `cached_input_per_million: ${source.word(place)} is more than input_per_million`,
    hint: 'what is read from a cache costs less: check both, or swap them',
    severity: 'warning',
  });
}

/** Warns of output far below input, which no provider charges: the two are most likely swapped. */
function checkSwapped(source: Source, price_at: string, price: Price): void {
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  const place = `${price_at}/output_per_million`;
  if (output === 0n || output * 2n > input || output * 12n < input || !source.has(place)) return;
  source.fault(place, {
    code: 'swapped_price',
    message: `output_per_million: ${source.word(place)} is far below input_per_million`,
    hint: 'output costs more than input: check both, or swap them',
    severity: 'warning',
  });
}

/** Warns of tokens written into a cache that are sold as other input, below their list price. */
function checkCacheWrites(
  source: Source,
  price_at: string,
  price: Price,
  listed: readonly ListPrice[],
): void {
  const { cached_input_nano_per_million: cached, input_nano_per_million: input } = price;
  if (cached === undefined || price.cache_write_nano_per_million !== undefined) return;
  const dear = listed.find(({ price: list }) => (list.cache_write_nano_per_million ?? 0n) > input);
  if (!dear || !source.has(`${price_at}/cached_input_per_million`)) return;
  const cost = formatDollars(dear.price.cache_write_nano_per_million ?? 0n);
  const charged = `this model charges ${formatDollars(input)}`;
  source.fault(price_at, {
    code: 'missing_price',
    message: `price: writing into the cache of ${quote(dear.model)} costs ${cost}, and ${charged}`,
    hint: `add cache_write_per_million: ${cost}`,
    severity: 'warning',
  });
}

/** Checks the units that lists lack. Of several amounts the first that looks wrong is reported. */
function checkKinds(source: Source, price_at: string, price: Price): void {
  for (const unit of ['per_audio_minute', 'per_million_characters'] as const) {
    const nano = price[unit];
    if (nano !== undefined) checkMagnitude(source, `${price_at}/${unit}`, unit, nano);
  }
  for (const unit of ['per_image', 'per_video_second'] as const) {
    const kinds = price[unit];
    if (!kinds) continue;
    [...kinds].some(([kind, nano]) => {
      const place = placeOfKind(source, `${price_at}/${unit}`, kind);
      // A single price is compared with the list, or checked beside it.
      return (
        kind !== 'any' &&
        checkMagnitude(source, place, unit, nano, unit === 'per_image' ? kinds : undefined)
      );
    });
  }
}
