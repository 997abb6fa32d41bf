import { tokenPrices } from '../billing/price-shape.js';
import type { Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { quote, type Source } from '../yaml/source.js';
import type { ListPrice } from './list-prices.js';
import type { ReadUpstream } from './upstreams.js';

/** How many times its price an upstream may cost before each of its calls is a large loss. */
const FAR = 3;

/**
 * Warns of an upstream that costs far more than the price of its model, where that price is near
 * the list price of another upstream. `payers` share the price.
 */
export function checkFallbacks(
  source: Source,
  price: Price,
  payers: readonly ReadUpstream[],
): void {
  for (const payer of payers) {
    const { pointer, listed = payer.listed_elsewhere } = payer;
    const list = new Map(listed && tokenPrices(listed.price));
    const loss = tokenPrices(price).find(([unit, nano]) => {
      return nano > 0n && isFar(nano, list.get(unit)) && payers.some(isNear(unit, nano));
    });
    if (!loss || !listed) continue;
    const [unit, nano] = loss;
    const cost = formatDollars(list.get(unit) ?? 0n);
    const paid = formatDollars(nano);
    const own = payer.listed ? 'price: list' : `a price such as ${unit}: ${cost}`;
    source.fault(pointer, {
      code: 'price_off_list',
      message: `${unit}: ${quote(listed.model)} costs ${cost}, and this model charges ${paid}`,
      hint: `write ${own} at this upstream, or leave it if the loss is meant`,
      severity: 'warning',
    });
  }
}

/**
 * Warns of an upstream with a list price where the model is free for the sake of another one. Where
 * all its upstreams cost something, the operator means to give it away.
 */
export function checkFreeFallbacks(source: Source, payers: readonly ReadUpstream[]): void {
  const paid = payers.map(({ listed, listed_elsewhere }) => costOf(listed ?? listed_elsewhere));
  if (!paid.includes(undefined)) return;
  for (const [i, { pointer }] of payers.entries()) {
    const cost = paid[i];
    if (!cost) continue;
    const { model, prices } = cost;
    source.fault(pointer, {
      code: 'price_off_list',
      message: `${quote(model)} costs money here, and the model is free, whoever serves it`,
      hint: `write price: { ${prices} } at the model in place of free, or leave it if it is meant`,
      severity: 'warning',
    });
  }
}

/** The list price of an upstream as it is written; undefined without one. */
function costOf(listed: ListPrice | undefined): { model: string; prices: string } | undefined {
  const amounts = listed ? tokenPrices(listed.price).filter(([, nano]) => nano > 0n) : [];
  if (!listed || amounts.length === 0) return undefined;
  const main = amounts.filter(([unit]) => /^(?:in|out)put_/.test(unit));
  const prices = main.map(([unit, nano]) => `${unit}: ${formatDollars(nano)}`).join(', ');
  return { model: listed.model, prices };
}

function isFar(nano: bigint, list_nano: bigint | undefined): boolean {
  return Number(list_nano ?? 0n) > FAR * Number(nano);
}

type Unit = ReturnType<typeof tokenPrices>[number][0];

/** Whether the list price of an upstream is near, so that the price is most likely meant for it. */
function isNear(unit: Unit, nano: bigint): (payer: ReadUpstream) => boolean {
  return ({ listed }) => {
    const list_nano = new Map(listed && tokenPrices(listed.price)).get(unit) ?? 0n;
    return list_nano > 0n && !isFar(nano, list_nano) && !isFar(list_nano, nano);
  };
}
