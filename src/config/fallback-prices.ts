import { tokenPrices } from '../billing/price-shape.js';
import type { Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
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
    if (!listed) continue;
    const list = new Map(tokenPrices(listed.price));
    const losses = tokenPrices(price).flatMap(([unit, nano]) => {
      const list_nano = list.get(unit) ?? 0n;
      const isLoss = nano > 0n && isFar(nano, list_nano) && payers.some(isNear(unit, nano));
      return isLoss ? [{ unit, nano, list_nano }] : [];
    });
    const loss = largestLoss(losses);
    if (!loss) continue;
    const { unit, nano, list_nano } = loss;
    const cost = formatDollars(list_nano);
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
 * Warns of an upstream that costs something where the model is free for the sake of another one.
 * Where all its upstreams cost something, `checkGivenAway` looks at it.
 */
export function checkFreeFallbacks(source: Source, payers: readonly ReadUpstream[]): void {
  const paid = payers.filter((payer) => costs(source, payer));
  if (paid.length === payers.length) return;
  for (const { pointer, upstream, listed } of paid) {
    const main = listed ? tokenPrices(listed.price).filter(([unit]) => MAIN.test(unit)) : [];
    const prices = main.map(([unit, nano]) => `${unit}: ${formatDollars(nano)}`).join(', ');
    const which = prices === '' ? 'the prices of this upstream' : `price: { ${prices} }`;
    const free = payers.find((payer) => !paid.includes(payer));
    const rest = `, and price: free at ${quote(free?.upstream.provider.name ?? '')}`;
    source.fault(pointer, {
      code: 'price_off_list',
      message: `${quote(upstream.model)} costs money here, and the model is free in any case`,
      hint: `write ${which} at the model in place of free${rest}, or leave it if it is meant`,
      severity: 'warning',
    });
  }
}

/** The units that every price of tokens has. */
export const MAIN = /^(?:in|out)put_/;

/** Whether a call costs: there is a list price, or a key for the usual address of the provider. */
function costs(source: Source, { listed, upstream, read }: ReadUpstream): boolean {
  if (listed) return tokenPrices(listed.price).some(([, nano]) => nano > 0n);
  const { data } = read.manifest;
  const isTheirs = data.base_url !== undefined && !hasOwnAddress(source, upstream.provider.name);
  const hasKey = source.has(`/providers${join(upstream.provider.name)}/api_key`);
  return isTheirs && hasKey && !upstream.model.endsWith('free');
}

/** The class of tokens that loses the most dollars. */
export function largestLoss<Loss extends { nano: bigint; list_nano: bigint }>(
  losses: readonly Loss[],
): Loss | undefined {
  const lost = ({ nano, list_nano }: Loss): number => Number(list_nano - nano);
  return losses.toSorted((a, b) => lost(b) - lost(a))[0];
}

function isFar(nano: bigint, list_nano: bigint): boolean {
  return Number(list_nano) > FAR * Number(nano);
}

type Unit = ReturnType<typeof tokenPrices>[number][0];

/** Whether the list price of an upstream is near, so that the price is most likely meant for it. */
function isNear(unit: Unit, nano: bigint): (payer: ReadUpstream) => boolean {
  return ({ listed }) => {
    const list_nano = new Map(listed && tokenPrices(listed.price)).get(unit) ?? 0n;
    return list_nano > 0n && !isFar(nano, list_nano) && !isFar(list_nano, nano);
  };
}
