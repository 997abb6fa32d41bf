// Made by `npm run types` from schemas/prices.schema.json.

/** a number of dollars, 0 or more */
export type Dollars = number;

/**
 * List prices of well-known models, in providers/prices.yaml: by the provider's manifest, then by
 * the provider's own model ID.
 */
export interface ListPrices {
  [k: string]: ProviderPrices;
}
export interface ProviderPrices {
  /** the page on which the prices stood */
  source: string;
  /** the day on which the page said so */
  date: string;
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
