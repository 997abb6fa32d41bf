import type { Price } from '../../core/model.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { pointer as join, type Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import { readDollars } from '../../yaml/dollars.js';

const QUALITIES = ['standard', 'hd'];

/**
 * Nano-dollars of an image: `any` where one number stands for all, or by quality, or by size. What
 * the file leaves out is not for sale.
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
  const sizes = keys.filter((key) => !QUALITIES.includes(key));
  if (sizes.length > 0 && sizes.length < keys.length) {
    const message = 'per_image goes by quality or by size, not by both';
    source.fault(pointer, { code: 'mixed_price', message, hint: 'keep one kind of key' });
  }
  const amounts = keys.map((key) => [key, readDollars(source, pointer + join(key))] as const);
  return { per_image: new Map(amounts) };
}
