import type { Configuration } from '../core/configuration.js';
import type { PriceEntry, PriceHistory } from '../store/prices/price-history.js';

/**
 * Writes the prices of each configuration to the store, so that a page can explain the cost of an
 * older request. `note` is called at every sweep and writes once for each configuration.
 */
export class PriceNotes {
  #noted: Configuration | undefined;

  constructor(private readonly prices: PriceHistory) {}

  async note(configuration: Configuration): Promise<void> {
    if (this.#noted === configuration) return;
    await this.prices.note(priceEntries(configuration));
    this.#noted = configuration;
  }
}

/** The price of each model at each of its upstreams. */
export function priceEntries({ models }: Configuration): PriceEntry[] {
  return [...models.values()].flatMap(({ id, upstreams }) =>
    upstreams.map(({ provider, model, price }) => ({
      model: id,
      provider: provider.name,
      upstream_model: model,
      price,
    })),
  );
}
