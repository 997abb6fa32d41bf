import type { Price } from '../../core/model.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { pointer as join, type Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import { readDollars } from '../../yaml/dollars.js';

const RESOLUTIONS = ['720p', '1080p', '4k'] as const;
const SOUNDS = ['silent', 'audio'] as const;

/**
 * The price of a second of video in nano-dollars, by resolution and sound as `720p/audio`. The file
 * has one number for all, one for each resolution, or one for each resolution and sound. A kind
 * without a price is not offered.
 */
export function readVideoPrices(
  source: Source,
  pointer: string,
  price: PartialLoad<PriceEntry>,
): Partial<Price> {
  const entry = typeof price === 'object' ? price.per_video_second : undefined;
  if (entry === undefined) return {};
  const prices = new Map<string, bigint>();
  for (const resolution of RESOLUTIONS) {
    const rate = typeof entry === 'object' ? entry[resolution] : entry;
    const place = typeof entry === 'object' ? pointer + join(resolution) : pointer;
    for (const sound of SOUNDS) {
      const amount = typeof rate === 'object' ? rate[sound] : rate;
      if (amount === undefined) continue;
      const spot = typeof rate === 'object' ? place + join(sound) : place;
      prices.set(`${resolution}/${sound}`, readDollars(source, spot));
    }
  }
  return { per_video_second: prices };
}
