import { tokenPrices } from '../billing/price-shape.js';
import type { Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { largestLoss } from './fallback-prices.js';
import { checkMagnitude } from './price-magnitude.js';
import type { ReadUpstream } from './upstreams.js';

/** How far a price may be from the list before it looks like a slip. */
const FAR = 3;

/** How far the shares of a deliberate discount may be from each other, by rounding. */
const SAME_SHARE = 1.05;

/** A price of one unit that is far from the list. */
interface Far {
  unit: string;
  place: string;
  nano: bigint;
  list_nano: bigint;
  ratio: number;
  /** The mistake that it looks like; empty for none in particular. */
  like: string;
  /** The upstream with that list price. */
  payer: ReadUpstream;
  model: string;
  date: string;
}

/**
 * Warns of each unit of a price that is more than three times the list price, or a third
 * of it. Where upstreams with several list prices pay one price, the nearest of them counts. Units
 * that are wrong in the same way have one fault.
 */
export function checkOffList(
  source: Source,
  pointer: string,
  price: Price,
  payers: readonly ReadUpstream[],
): void {
  const groups = new Map<string, Far[]>();
  const isLow = isAllLow(price, payers);
  for (const [unit, nano] of amountsOf(price)) {
    const place = pointer + join(unit);
    // A price that could not be read counts as 0, and has a fault of its own.
    const text = source.text(place)?.trim() ?? '';
    if (nano === 0n && (text === '' || Number(text) !== 0)) continue;
    const nearest = nearestOf(unit, nano, payers);
    if (!nearest) checkMagnitude(source, place, unit, nano);
    const isTurned = nearest !== undefined && isSwapped(price, nearest.listed.price);
    const isHalf = isTurned && (unit === 'input_per_million' || unit === 'output_per_million');
    const isBatch = nearest?.ratio === 0.5 && isHalfOf(price, nearest.listed.price);
    if (!nearest || (!isFar(nearest.ratio) && !isHalf && !isBatch && !isLow)) continue;
    // Above the list, but far below other input: most likely it is sold with the same profit.
    const isSaved = unit === CACHED && nearest.ratio > 1 && nano * 2n <= price[INPUT];
    if (isSaved) continue;
    const slip = isBatch ? BATCH : asIf(unit, nearest.ratio);
    const like = isTurned ? SWAPPED : isLow ? LOSS : slip;
    const { list_nano, ratio, payer, listed } = nearest;
    const far: Far = { ...listed, unit, place, nano, list_nano, ratio, like, payer };
    const key = `${like || inWords(ratio)} ${far.model}`;
    groups.set(key, [...(groups.get(key) ?? []), far]);
  }
  const all = [...groups.values()].flat();
  // Where the first upstream has no list price, the price is most likely meant for that one.
  const isOther = payers[0]?.listed === undefined && all.every(({ like }) => like === '');
  if (isOther) reportLoss(source, all);
  else for (const group of groups.values()) report(source, group, zeroPrices(price).length > 0);
}

function nearestOf(unit: string, nano: bigint, payers: readonly ReadUpstream[]) {
  const candidates = payers.flatMap((payer) => {
    const { listed } = payer;
    const list_nano = listed && amountsOf(listed.price).get(unit);
    if (!listed || !list_nano) return [];
    return [{ payer, listed, list_nano, ratio: Number(nano) / Number(list_nano) }];
  });
  return candidates.toSorted((a, b) => farness(a.ratio) - farness(b.ratio))[0];
}

function report(source: Source, [first, ...others]: readonly Far[], isZero: boolean): void {
  if (!first) return;
  const all = [first, ...others];
  const units = all.map(({ unit }) => unit).join(' and ');
  const lists = all.map(({ list_nano }) => formatDollars(list_nano));
  const shares = [...new Set(all.map(({ ratio }) => inWords(ratio)))].join(' and ');
  const ratios = first.like === LOSS ? 'at most half of' : shares;
  const list = `the list ${others.length > 0 ? 'prices' : 'price'} of ${quote(first.model)}`;
  const verb = others.length > 0 ? `${units} are` : `${units}: ${source.word(first.place)} is`;
  const message = `${verb} ${ratios} ${list}, ${lists.join(' and ')}${first.like}`;
  const whole = all.map(({ unit }, i) => `${unit}: ${lists[i]}`).join(', ');
  const right = others.length > 0 ? `{ ${whole} }` : lists[0];
  const meant = isZero ? 'price: free' : 'leave yours';
  const hint = `write ${right} or price: list (${first.date}), or ${meant} if it is meant`;
  source.fault(first.place, { code: 'price_off_list', message, hint, severity: 'warning' });
}

/** Warns of an upstream that costs more than is charged. */
function reportLoss(source: Source, all: readonly Far[]): void {
  const loss = largestLoss(all.filter(({ ratio }) => ratio < 1));
  if (!loss) return;
  const { unit, model, nano, list_nano, payer } = loss;
  const charged = `this model charges ${formatDollars(nano)}`;
  source.fault(payer.pointer, {
    code: 'price_off_list',
    message: `${unit}: ${quote(model)} costs ${formatDollars(list_nano)}, and ${charged}`,
    hint: 'write price: list at this upstream, or leave it if the loss is meant',
    severity: 'warning',
  });
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

/** A third of the list is a loss already, and three times the list may be meant. */
function isFar(ratio: number): boolean {
  return farness(ratio) > FAR || Math.abs(ratio * FAR - 1) < 1e-9;
}

/** 3 for a ratio of 3 and for one of 1/3. */
function farness(ratio: number): number {
  return Math.max(ratio, 1 / ratio);
}

const SWAPPED = ', as if input and output were swapped';
const BATCH = ', as if calls went in batches';
const LOSS = ', so each call is a loss';
const CACHED = 'cached_input_per_million';
const INPUT = 'input_nano_per_million';

/** Whether all that a price has by tokens is half of the list, as providers charge for batches. */
function isHalfOf(price: Price, list: Price): boolean {
  const listed = new Map(tokenPrices(list));
  const own = tokenPrices(price);
  return own.length > 1 && own.every(([unit, nano]) => nano * 2n === listed.get(unit));
}

/**
 * Whether all that a price has is half of the list or less, and each by another share. One share of
 * all is a discount that the operator gives, and what looks like a slip is told as that.
 */
function isAllLow(price: Price, payers: readonly ReadUpstream[]): boolean {
  if (payers[0]?.listed === undefined) return false;
  const compared = [...amountsOf(price)].flatMap(([unit, nano]) => {
    const ratio = nearestOf(unit, nano, payers)?.ratio;
    return ratio === undefined ? [] : [{ unit, ratio }];
  });
  const ratios = compared.map(({ ratio }) => ratio);
  const isLow = compared.every(({ unit, ratio }) => {
    return ratio > 0 && ratio <= 0.5 && asIf(unit, ratio) === '';
  });
  return ratios.length > 1 && isLow && Math.max(...ratios) > Math.min(...ratios) * SAME_SHARE;
}

function isSwapped(price: Price, list: Price): boolean {
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  const isTurned = input === list.output_nano_per_million && output === list.input_nano_per_million;
  return isTurned && input !== output;
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
