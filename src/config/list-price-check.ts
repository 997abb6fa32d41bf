import { tokenPrices } from '../billing/price-shape.js';
import type { Capability, Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import type { Modalities } from '../pipeline/modality.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { ListPrice } from './list-prices.js';
import { missingUnits } from './prices.js';
import type { ReadUpstream } from './upstreams.js';

/**
 * Holds the prices of a model against the list: a price `list` must have a unit for each of its
 * capabilities, and any other should not be far from the list.
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
    } else if (first) checkOffList(source, price_at, first.upstream.price, listed);
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
    source.fault(pointer, { code: 'missing_price', message, hint: 'write the prices' });
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
    if (nano === 0n && Number(source.text(place)) !== 0) continue;
    const candidates = listed.flatMap((one) => {
      const list_nano = amountsOf(one.price).get(unit) ?? 0n;
      return list_nano === 0n ? [] : [{ ...one, list_nano, ratio: ratio(nano, list_nano) }];
    });
    const [nearest] = candidates.toSorted((a, b) => farness(a.ratio) - farness(b.ratio));
    if (!nearest) checkMagnitude(source, place, unit, nano);
    if (!nearest || farness(nearest.ratio) <= FAR) continue;
    const list = `the list price of ${quote(nearest.model)}, ${formatDollars(nearest.list_nano)}`;
    const message = `${unit}: ${source.word(place)} is ${inWords(nearest.ratio)} ${list}`;
    const hint = `read on ${nearest.date}; write price: list, or leave yours if it is meant`;
    source.fault(place, { code: 'price_off_list', message, hint, severity: 'warning' });
  }
}

const NANO = 1_000_000_000n;
/** The least and the most that a million tokens cost anywhere. */
const CHEAPEST_NANO = NANO / 1_000n;
const DEAREST_NANO = 1_000n * NANO;

/** Warns of a price for a million tokens that looks like that of one, or of a thousand times it. */
function checkMagnitude(source: Source, place: string, unit: string, nano: bigint): void {
  if (!unit.endsWith('_per_million') || nano === 0n) return;
  const tell = (like: string, hint: string): void =>
    source.fault(place, {
      code: 'price_magnitude',
      message: `${unit}: ${source.word(place)} for a million tokens looks like ${like}`,
      hint,
      severity: 'warning',
    });
  if (nano < CHEAPEST_NANO) {
    tell('the price of one', `for a million write ${formatDollars(nano * 1_000_000n)}`);
  } else if (nano > DEAREST_NANO) {
    tell('a thousand times what is meant', 'prices are in dollars for a million tokens');
  }
}

/** Nano-dollars by the units that lists have. */
function amountsOf(price: Price): ReadonlyMap<string, bigint> {
  const image = price.per_image?.get('any');
  const images = image === undefined ? [] : [['per_image', image] as const];
  return new Map<string, bigint>([...tokenPrices(price), ...images]);
}

function ratio(nano: bigint, list_nano: bigint): number {
  return Number(nano) / Number(list_nano);
}

/** 3 for three times as much, and for a third of it. */
function farness(ratio: number): number {
  return Math.max(ratio, 1 / ratio);
}

function inWords(ratio: number): string {
  if (ratio === 0) return 'far below';
  const times = Number(farness(ratio).toPrecision(2));
  return ratio > 1 ? `${times} times` : `1/${times} of`;
}
