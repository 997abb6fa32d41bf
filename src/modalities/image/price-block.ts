import type { Price } from '../../core/model.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { pointer as join, type Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import { readDollars } from '../../yaml/dollars.js';
import { kindIn } from './price.js';

/**
 * The price of an image in nano-dollars: under `any` for a single price, or by quality, by size, or
 * by both as `hd/1024x1024`. A kind without a price is not offered.
 */
export function readImagePrices(
  source: Source,
  pointer: string,
  price: PartialLoad<PriceEntry>,
): Partial<Price> {
  const entry = typeof price === 'object' ? price.per_image : undefined;
  if (entry === undefined) return {};
  if (typeof entry !== 'object') {
    return { per_image: new Map([['any', readDollars(source, pointer)]]) };
  }
  const given = Object.entries(entry).filter(([, amount]) => amount !== undefined);
  const keys = given.map(([key]) => key);
  const sizes = keys.filter((key) => kindIn(key).size !== undefined);
  if (sizes.length > 0 && sizes.length < keys.length) {
    const message = 'per_image goes by quality or by size, not by both side by side';
    const hint =
      'keep one kind of key, or give each quality its sizes: { hd: { 1024x1024: 0.08 } }';
    source.fault(pointer, { code: 'mixed_price', message, hint });
  }
  const prices = new Map<string, bigint>();
  for (const [key, amount] of given) {
    const place = pointer + join(key);
    if (typeof amount !== 'object') prices.set(key, readDollars(source, place));
    else
      for (const size of Object.keys(amount)) {
        prices.set(`${key}/${size}`, readDollars(source, place + join(size)));
      }
  }
  return { per_image: prices };
}
