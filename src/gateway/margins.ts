import { amountsIn, priceShape, type PriceShape } from '../billing/price-shape.js';
import { pricesBeside } from '../config/list-prices.js';
import type { Upstream } from '../core/model.js';
import { MODALITIES } from '../modalities/index.js';
import type { ModelFacts } from '../schema-types/prices.js';
import { Report } from '../yaml/report.js';

/** The margin of a price over the upstream's list price. */
export interface Margin {
  /** `input_per_million`, or `per_image hd`. */
  unit: string;
  /** Dollars. */
  price: string;
  list: string;
  /** In percent of the price; negative if each call is a loss, null if the price is zero. */
  percent: number | null;
  /** The day of the list price. */
  date: string;
}

/**
 * The margins of each upstream, for the units that both its price and the price list have.
 * `directory` is that of gateway.yaml, which may have a list of its own.
 */
export async function margins(
  upstreams: readonly Upstream[],
  directory: string,
): Promise<Margin[][]> {
  const prices = await pricesBeside(directory, new Report());
  return upstreams.map((upstream) => {
    const listed = prices.find(upstream, MODALITIES);
    if (!listed) return [];
    const own = amountsOf(priceShape(upstream.price));
    return [...amountsOf(priceShape(listed.price))].flatMap(([unit, list]) => {
      // A free model has a price of zero for each unit.
      // A price without one for a tier, for hours or for long prompts holds for these too.
      const short = unit.replace(
        /^(?:tiers \S+ |off_peak .*?(?=\S+_per_million|per_))?(?:long_prompt )?/u,
        '',
      );
      const price =
        own.get(unit) ??
        (unit.startsWith('off_peak ') ? lowestOffPeak(own, short) : undefined) ??
        own.get(short) ??
        (upstream.price.free ? '0.00' : undefined);
      if (price === undefined) return [];
      return [
        { unit, price, list, percent: marginOf(Number(price), Number(list)), date: listed.date },
      ];
    });
  });
}

/** The lowest price in any hours: hours with other bounds may be the same ones all the same. */
function lowestOffPeak(own: ReadonlyMap<string, string>, short: string): string | undefined {
  const those = [...own].filter(([unit]) => {
    return unit.startsWith('off_peak ') && unit.endsWith(` ${short}`);
  });
  const [lowest] = those.map(([, price]) => price).sort((a, b) => Number(a) - Number(b));
  return lowest;
}

/** What the lists know of the models of upstreams; null where nothing is known. */
export async function modelFacts(
  upstreams: readonly Upstream[],
  directory: string,
): Promise<(ModelFacts | null)[]> {
  const prices = await pricesBeside(directory, new Report());
  return upstreams.map((upstream) => prices.factsOf(upstream) ?? null);
}

function marginOf(price: number, list: number): number | null {
  return price === 0 ? null : Number((((price - list) / price) * 100).toFixed(1));
}

/** Dollars by unit; a price by size, quality, tier or length of prompt has a unit for each. */
export function amountsOf(shape: PriceShape): Map<string, string> {
  if (shape === 'free') return new Map();
  return new Map(amountsIn(shape).map(([names, dollars]) => [names.join(' '), dollars]));
}
