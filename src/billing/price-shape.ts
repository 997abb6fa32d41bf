import { formatDollars } from '../lib/money.js';
import type { Price } from '../core/model.js';

/** Dollars by unit, as gateway.yaml has them; or `free`. */
export type PriceShape = 'free' | Record<string, string | Record<string, string>>;

export function priceShape(price: Price): PriceShape {
  if (price.free) return 'free';
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  const shape: PriceShape = {};
  if (input > 0n || output > 0n) {
    shape['input_per_million'] = formatDollars(input);
    if (!price.input_only) shape['output_per_million'] = formatDollars(output);
  }
  if (price.per_image) shape['per_image'] = inDollars(price.per_image);
  if (price.per_video_second) shape['per_video_second'] = inDollars(price.per_video_second);
  return shape;
}

function inDollars(prices: ReadonlyMap<string, bigint>): Record<string, string> {
  return Object.fromEntries([...prices].map(([unit, nano]) => [unit, formatDollars(nano)]));
}
