import type { Configuration } from '../core/configuration.js';
import { costCard, type TokenPrices } from '../core/model.js';
import type { ExportClass } from '../core/provider-export.js';
import type { PriceByClass } from './causes.js';

const FIELDS: Readonly<Record<ExportClass, keyof TokenPrices>> = {
  input: 'input_nano_per_million',
  cached_input: 'cached_input_nano_per_million',
  cache_write: 'cache_write_nano_per_million',
  cache_write_1h: 'cache_write_1h_nano_per_million',
  audio_input: 'audio_input_nano_per_million',
  output: 'output_nano_per_million',
  audio_output: 'audio_output_nano_per_million',
};

/** What upstreams take by model at these providers; of several, the first one's. */
export function pricesByModel(
  { models }: Configuration,
  providers: readonly string[],
): Map<string, PriceByClass> {
  const prices = new Map<string, PriceByClass>();
  for (const { upstreams } of models.values()) {
    for (const { provider, model, price } of upstreams) {
      if (!providers.includes(provider.name) || prices.has(model)) continue;
      prices.set(model, priceByClass(costCard(price)));
    }
  }
  return prices;
}

function priceByClass(price: TokenPrices): PriceByClass {
  const classes = Object.entries(FIELDS).flatMap(([name, field]) => {
    const nano = price[field];
    return nano === undefined ? [] : [[name, nano] as const];
  });
  return Object.fromEntries(classes);
}
