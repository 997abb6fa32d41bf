import { tokenPrices } from '../billing/price-shape.js';
import type { Model, Upstream } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import type { Modalities } from '../pipeline/modality.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import { MAIN } from './fallback-prices.js';
import type { ListPrice, ListPrices } from './list-prices.js';

/**
 * Warns of a free model whose upstreams all cost something: it is served at the operator's cost,
 * to accounts without a balance too. Where several models are so and none has a price, the operator
 * means to charge nobody.
 */
export function checkGivenAway(
  source: Source,
  models: readonly Model[],
  prices: ListPrices,
  modalities: Modalities,
): void {
  const free = models.filter(({ price }) => price.free);
  const given = free.flatMap((model) => {
    const costs = model.upstreams.map((one) => costOf(source, one, prices, modalities));
    const [first] = costs;
    return first && !costs.includes(undefined) ? [{ model, first }] : [];
  });
  if (given.length > 1 && free.length === models.length) return;
  for (const { model, first } of given) {
    const place = `/models${join(model.id)}/price`;
    if (source.text(place) !== 'free') continue;
    const amounts = tokenPrices(first.price).filter(([unit]) => MAIN.test(unit));
    const dollars = amounts.map(([, nano]) => formatDollars(nano)).join(' and ');
    const cost = `${quote(first.model)} costs ${dollars} per million tokens`;
    source.fault(place, {
      code: 'price_off_list',
      message: `price: this model is free, and ${cost}`,
      hint: 'write price: list, or leave it if you mean to pay for all calls',
      severity: 'warning',
    });
  }
}

/** The list price of an upstream by tokens; undefined for one that may cost nothing. */
function costOf(
  source: Source,
  { provider, model }: Upstream,
  prices: ListPrices,
  modalities: Modalities,
): ListPrice | undefined {
  if (hasOwnAddress(source, provider.name)) return undefined;
  const listed = prices.find({ provider, model }, modalities);
  return listed && tokenPrices(listed.price).length > 0 ? listed : undefined;
}
