import { formatDollars } from '../lib/money.js';
import type { PriceBounds } from '../schema-types/price-bounds.js';
import type { Source } from '../yaml/source.js';
import type { Advice } from './advice.js';
import { boundsOf, paidPrices, type Amount } from './price-compare.js';

/** A mistake that a price beyond its bounds looks like, and the factor that rights it. */
type Slip = readonly [factor: number, like: string];

const CENTS: Slip = [1 / 100, 'cents'];

/** The first slip that brings a price within its bounds counts. */
const SLIPS: Readonly<Record<string, readonly Slip[]>> = {
  per_million_tokens: [
    [1e3, 'the price of a thousand tokens'],
    [1e6, 'the price of one token'],
    [1 / 1e3, 'a thousand times what is meant'],
  ],
  per_image: [CENTS, [1_000, 'the price of a thousandth of an image']],
  per_video_second: [[1 / 8, 'the price of a whole video'], CENTS],
  per_audio_minute: [[60, 'the price of a second'], [1 / 60, 'the price of an hour'], CENTS],
  per_million_characters: [
    [1e3, 'the price of a thousand characters'],
    [1e6, 'the price of one character'],
    CENTS,
  ],
};

export const priceMagnitude: Advice = {
  code: 'price_magnitude',
  saves: 'calls at a price in cents, or for another number of tokens, where no list has the model',
  *check(view) {
    const { source, prices } = view;
    for (const { pointer, price, amounts, payers } of paidPrices(view)) {
      const told = new Set<string>();
      for (const amount of amounts) {
        const isKnown = payers.some(({ reference }) => reference && boundsOf(reference, amount));
        const slip = isKnown || told.has(amount.unit) ? undefined : slipOf(amount, prices.bounds);
        if (!slip || amount.dollars === 0) continue;
        told.add(amount.unit);
        yield { pointer: amount.place, ...wordsOf(source, amount, slip) };
      }
      const place = `${pointer}/long_prompt/above_tokens`;
      const above = price.long_prompt?.above_tokens ?? Infinity;
      if (above >= prices.bounds.long_prompt.shortest) continue;
      yield {
        pointer: place,
        message: `long_prompt: above_tokens ${source.word(place)} is short for a long prompt`,
        hint: `if it is meant in thousands write ${above * 1_000}`,
      };
    }
  },
};

function slipOf({ unit, dollars }: Amount, { units }: PriceBounds): Slip | undefined {
  const name = unit.endsWith('_per_million') ? 'per_million_tokens' : unit;
  const range = units[name];
  const isWithin = (one: number): boolean =>
    range === undefined || (one >= range.lowest && one <= range.highest);
  if (isWithin(dollars)) return undefined;
  const slips = SLIPS[name] ?? [];
  return slips.find(([factor]) => isWithin(dollars * factor)) ?? [1, 'no price that any has'];
}

function wordsOf(source: Source, { unit, place, dollars }: Amount, [factor, like]: Slip) {
  const meant = formatDollars(BigInt(Math.round(dollars * factor * 1e9)));
  return {
    message: `${unit}: ${source.word(place)} dollars look like ${like}`,
    hint: factor === 1 ? 'check its point' : `if so write ${meant}; else leave it`,
  };
}
