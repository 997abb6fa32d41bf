import { tokenPrices } from '../billing/price-shape.js';
import type { Capability, Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import type { Modalities } from '../pipeline/modality.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { checkFallbacks } from './fallback-prices.js';
import type { ListPrice } from './list-prices.js';
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
    } else if (first) {
      checkOffList(source, price_at, first.upstream.price, listed);
      checkFallbacks(source, first.upstream.price, payers);
      if (listed.length === 0) checkCached(source, price_at, first.upstream.price);
      if (listed.length === 0) checkSwapped(source, price_at, first.upstream.price);
      checkKinds(source, price_at, first.upstream.price);
    }
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
    const hint = isInputOnly ? 'write capabilities: [embedding]' : 'write the prices';
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

/** Checks each amount of the units that have several, such as one for each size of an image. */
function checkKinds(source: Source, price_at: string, price: Price): void {
  const { per_image, per_video_second, per_audio_minute, per_million_characters } = price;
  const minute = new Map(per_audio_minute === undefined ? [] : [['any', per_audio_minute]]);
  if (per_million_characters !== undefined) {
    const unit = 'per_million_characters';
    checkMagnitude(source, `${price_at}/${unit}`, unit, per_million_characters);
  }
  for (const [unit, kinds] of Object.entries({
    per_image,
    per_video_second,
    per_audio_minute: minute,
  })) {
    for (const [kind, nano] of kinds ?? []) {
      const exact = `${price_at}/${unit}${kind === 'any' ? '' : join(...kind.split('/'))}`;
      const place = source.has(exact) ? exact : `${price_at}/${unit}`;
      if (kind !== 'any' || unit !== 'per_image') checkMagnitude(source, place, unit, nano);
    }
  }
}

/** How far a price may be from the list before it looks like a slip. */
const FAR = 3;

/**
 * Warns of each unit of a price that is more than three times the list price, or less than a third
 * of it. Where upstreams with several list prices pay one price, the nearest of them counts.
 */
function checkOffList(
  source: Source,
  pointer: string,
  price: Price,
  listed: readonly ListPrice[],
): void {
  for (const [unit, nano] of amountsOf(price)) {
    const place = pointer + join(unit);
    // A price that could not be read counts as 0, and has a fault of its own.
    const text = source.text(place)?.trim() ?? '';
    if (nano === 0n && (text === '' || Number(text) !== 0)) continue;
    const candidates = listed.flatMap((one) => {
      const list_nano = amountsOf(one.price).get(unit) ?? 0n;
      return list_nano === 0n ? [] : [{ ...one, list_nano, ratio: ratio(nano, list_nano) }];
    });
    const [nearest] = candidates.toSorted((a, b) => farness(a.ratio) - farness(b.ratio));
    if (!nearest) checkMagnitude(source, place, unit, nano);
    if (!nearest || farness(nearest.ratio) <= FAR) continue;
    const list = `the list price of ${quote(nearest.model)}, ${formatDollars(nearest.list_nano)}`;
    const like = isSwapped(price, nearest.price) ? SWAPPED : asIf(unit, nearest.ratio);
    const comparison = `${inWords(nearest.ratio)} ${list}${like}`;
    const message = `${unit}: ${source.word(place)} is ${comparison}`;
    const right = formatDollars(nearest.list_nano);
    const meant = zeroPrices(price).length > 0 ? 'price: free' : 'leave yours';
    const hint = `write ${right} or price: list (${nearest.date}), or ${meant} if it is meant`;
    source.fault(place, { code: 'price_off_list', message, hint, severity: 'warning' });
  }
}

const NANO = 1_000_000_000n;
/** The lowest and the highest price of a million tokens at any provider. */
const CHEAPEST_NANO = NANO / 1_000n;
const DEAREST_NANO = 1_000n * NANO;

/** The highest price of other units at any provider: a higher one is most likely in cents. */
const DEAREST_UNIT_NANO: Readonly<Record<string, bigint>> = {
  per_image: 2n * NANO,
  per_video_second: 5n * NANO,
  per_audio_minute: NANO / 5n,
};

/** Warns of a price for a million tokens that looks like that of one, or of a thousand times it. */
function checkMagnitude(source: Source, place: string, unit: string, nano: bigint): void {
  const addFault = (like: string, hint: string): void =>
    source.fault(place, {
      code: 'price_magnitude',
      message: `${unit}: ${source.word(place)} ${like}`,
      hint,
      severity: 'warning',
    });
  const dearest = DEAREST_UNIT_NANO[unit];
  if (dearest !== undefined && nano > dearest) {
    const dollars = formatDollars(nano / 100n);
    if (unit === 'per_audio_minute' && nano <= 5n * NANO) {
      const minute = formatDollars(nano / 60n);
      addFault(
        'dollars look like the price of an hour',
        `if they are, write ${minute}; else leave it`,
      );
    } else addFault('dollars look like cents', `if they are, write ${dollars}; else leave it`);
  }
  if (unit === 'per_million_characters' && nano > 0n && nano < NANO / 10n) {
    const million = formatDollars(nano * 1_000n);
    addFault('looks like the price of a thousand characters', `if it is, write ${million}`);
  }
  if (!unit.endsWith('_per_million') || nano === 0n) return;
  if (nano < CHEAPEST_NANO) {
    const [one, thousand] = [nano * 1_000_000n, nano * 1_000n].map(formatDollars);
    const hint = `if it is that of one token write ${one}, if of a thousand ${thousand}`;
    addFault('for a million tokens looks like the price of one', hint);
  } else if (nano > DEAREST_NANO) {
    const like = 'for a million tokens looks like a thousand times what is meant';
    addFault(like, 'prices are in dollars for a million tokens');
  }
}

/** Nano-dollars by the units that lists have. */
function amountsOf(price: Price): ReadonlyMap<string, bigint> {
  const image = price.per_image?.get('any');
  const images = image === undefined ? [] : [['per_image', image] as const];
  return new Map<string, bigint>([...zeroPrices(price), ...tokenPrices(price), ...images]);
}

/** The token prices of a model where both are 0, which only `price: free` is to express. */
function zeroPrices(price: Price): [string, bigint][] {
  if (price.free || price.input_nano_per_million + price.output_nano_per_million > 0n) return [];
  return [
    ['input_per_million', 0n],
    ['output_per_million', 0n],
  ];
}

function ratio(nano: bigint, list_nano: bigint): number {
  return Number(nano) / Number(list_nano);
}

/** 3 for a ratio of 3 and for one of 1/3. */
function farness(ratio: number): number {
  return Math.max(ratio, 1 / ratio);
}

const SWAPPED = ', as if input and output were swapped';

function isSwapped(price: Price, list: Price): boolean {
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  return input === list.output_nano_per_million && output === list.input_nano_per_million;
}

/** The mistake that a ratio looks like: a price for another number of tokens, or in cents. */
function asIf(unit: string, ratio: number): string {
  const isNear = (of: number): boolean => ratio > of / FAR && ratio < of * FAR;
  if (isNear(100)) return ', as if in cents';
  if (!unit.endsWith('_per_million')) return '';
  if (isNear(1e-6)) return ', as if for one token';
  if (isNear(1e-3)) return ', as if for a thousand tokens';
  return isNear(1_000) ? ', as if for a billion tokens' : '';
}

function inWords(ratio: number): string {
  if (ratio === 0) return 'far below';
  const times = Number(farness(ratio).toPrecision(2));
  return ratio > 1 ? `${times} times` : `1/${times} of`;
}
