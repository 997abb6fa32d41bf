import type { Configuration } from '../core/configuration.js';
import { costCard, type TokenPrices } from '../core/model.js';
import { EXPORT_CLASSES } from '../core/provider-export.js';
import type { PriceByClass } from './causes.js';

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
  const classes = EXPORT_CLASSES.flatMap((name) => {
    const nano = price[`${name}_nano_per_million`];
    return nano === undefined ? [] : [[name, nano] as const];
  });
  return Object.fromEntries(classes);
}
