// Made by `npm run types` from schemas/prices.schema.json.

/** the day on which the page said so */
export type Day = string;
/** a number of dollars, 0 or more */
export type Dollars = number;
/** a factor above 1 */
export type Factor = number;

/** List prices of well-known models, and the bounds of prices, in providers/prices.yaml. */
export interface ListPrices {
  /** list prices by the provider's manifest, then by the provider's own model ID */
  lists: {
    [k: string]: ProviderPrices;
  };
  bounds: PriceBounds;
  rough: RoughPrices;
}
export interface ProviderPrices {
  /** whether other providers serve these models too, at prices of their own */
  open_weights?: boolean;
  /** the page on which the prices stood */
  source: string;
  date: Day;
  models: {
    [k: string]: ListedPrice;
  };
}
export interface ListedPrice {
  input_per_million?: Dollars;
  cached_input_per_million?: Dollars;
  cache_write_per_million?: Dollars;
  audio_input_per_million?: Dollars;
  output_per_million?: Dollars;
  audio_output_per_million?: Dollars;
  long_prompt?: ListedLongPrompt;
  per_image?: Dollars;
}
export interface ListedLongPrompt {
  above_tokens: number;
  input_per_million?: Dollars;
  cached_input_per_million?: Dollars;
  cache_write_per_million?: Dollars;
  audio_input_per_million?: Dollars;
  output_per_million?: Dollars;
  audio_output_per_million?: Dollars;
}
export interface PriceBounds {
  far: Factor;
  far_elsewhere: Factor;
  units: {
    [k: string]: UnitBounds;
  };
  long_prompt: {
    /** a number of tokens */
    shortest: number;
    most: Factor;
  };
}
export interface UnitBounds {
  lowest: Dollars;
  highest: Dollars;
}
export interface RoughPrices {
  date: Day;
  models: {
    [k: string]: RoughPrice;
  };
}
export interface RoughPrice {
  [k: string]: Dollars[];
}
