import { formatDollars } from '../lib/money.js';
import { TOKEN_UNIT_FIELDS, type Price, type TokenPrices, type TokenUnit } from '../core/model.js';

/**
 * A price as gateway.yaml writes it: dollars by unit, or `free`. A number in it is not of dollars
 * but of tokens, the `above_tokens` of `long_prompt`.
 */
export type PriceShape = 'free' | Record<string, string | Record<string, string | number>>;

/** Writes a price as gateway.yaml does. */
export function priceShape(price: Price): PriceShape {
  if (price.free) return 'free';
  const shape: PriceShape = {};
  for (const [unit, nano] of tokenPrices(price)) shape[unit] = formatDollars(nano);
  const { long_prompt } = price;
  if (long_prompt) {
    const { above_tokens } = long_prompt;
    shape.long_prompt = { above_tokens, ...tokensInDollars(long_prompt) };
  }
  if (price.per_image) shape.per_image = inDollars(price.per_image);
  if (price.per_video_second) shape.per_video_second = inDollars(price.per_video_second);
  const { per_million_characters: characters, per_audio_minute: minute } = price;
  if (characters !== undefined) shape.per_million_characters = formatDollars(characters);
  if (minute !== undefined) shape.per_audio_minute = formatDollars(minute);
  return shape;
}

function tokensInDollars(prices: Partial<TokenPrices>): Record<string, string> {
  const units = TOKEN_UNIT_FIELDS.flatMap(([unit, field]) => {
    const nano = prices[field];
    return nano === undefined ? [] : [[unit, formatDollars(nano)]];
  });
  return Object.fromEntries(units) as Record<string, string>;
}

/**
 * The prices of tokens in nano-dollars per million, with those classes that have a price of their
 * own. Empty if tokens cost nothing.
 */
export function tokenPrices(price: Price): [TokenUnit, bigint][] {
  const given = TOKEN_UNIT_FIELDS.flatMap(([unit, field]): [TokenUnit, bigint][] => {
    const nano = price[field];
    const isAbsent = unit === 'output_per_million' && price.input_only;
    return nano === undefined || isAbsent ? [] : [[unit, nano]];
  });
  return given.some(([, nano]) => nano > 0n) ? given : [];
}

/** Whether a price with these units is by tokens, for work that can also have a unit of its own. */
export function isByTokens(given: readonly string[]): boolean {
  return given.includes('input_per_million') || given.includes('output_per_million');
}

function inDollars(prices: ReadonlyMap<string, bigint>): Record<string, string> {
  return Object.fromEntries([...prices].map(([unit, nano]) => [unit, formatDollars(nano)]));
}
