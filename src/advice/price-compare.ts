import { isListPrice } from '../config/price-terms.js';
import { tokenPrices } from '../billing/price-shape.js';
import type { FinishedFile } from '../config/load.js';
import type { PriceReference } from '../config/list-prices.js';
import type { ReadUpstream } from '../config/upstreams.js';
import type { Price } from '../core/model.js';
import { memoizeByObject } from '../lib/objects.js';
import { hasOwnAddress, payersOf } from '../pipeline/model-check.js';
import { pointer as join, type Source } from '../yaml/source.js';

/** An upstream with the price that a model of its name has, at its provider or another one. */
export interface Payer {
  at: ReadUpstream;
  reference: PriceReference | undefined;
}

/** A price of a model, and the upstreams that are paid from it. */
export interface PaidPrice {
  id: string;
  /** The place of the price. */
  pointer: string;
  price: Price;
  amounts: readonly Amount[];
  payers: readonly Payer[];
  context: number | undefined;
}

/** All prices of a file that are numbers. Several rules look at them. */
export const paidPrices = memoizeByObject((view: FinishedFile): readonly PaidPrice[] =>
  view.models.flatMap((model) =>
    payersOf(model).flatMap((upstreams) => {
      const [first] = upstreams;
      const isWritten = first && !isListPrice(view.source, first.price_at);
      if (!first || !isWritten || first.upstream.price.free) return [];
      const { id } = model.model;
      const payers = upstreams.map((at) => ({ at, reference: referenceOf(view, id, at) }));
      const {
        price_at: pointer,
        upstream: { price },
      } = first;
      const amounts = amountsOf(view.source, pointer, price);
      return [{ id, pointer, price, amounts, payers, context: model.limits.context }];
    }),
  ),
);

/** The reference of an upstream; none at a server of the operator's own, where all is unknown. */
export function referenceOf(
  view: FinishedFile,
  id: string,
  one: ReadUpstream,
): PriceReference | undefined {
  const { provider, model } = one.upstream;
  if (!one.listed && isOwnServer(view.source, one)) return undefined;
  const name = isDeployed(one) ? id : '';
  return view.prices.reference({ provider, model }, name, view.modalities);
}

/** Whether calls go to a server of the operator's own: what they cost there is not known. */
export function isOwnServer(source: Source, one: ReadUpstream): boolean {
  const { provider } = one.upstream;
  // Providers are reached by TLS.
  const isLocal = hasOwnAddress(source, provider.name) || provider.base_url.startsWith('http:');
  return isLocal && !isDeployed(one);
}

/** A deployment has a name of its own, and is a known model for all that. */
function isDeployed({ read }: ReadUpstream): boolean {
  return read.manifest.data.base_url?.includes('{resource}') === true;
}

/** An amount of a price: its unit, the kind of image or video, and its place. */
export interface Amount {
  unit: string;
  kind: string;
  place: string;
  dollars: number;
}

const NANO = 1e9;

/** The amounts of a price as they are written. */
function amountsOf(source: Source, pointer: string, price: Price): Amount[] {
  const { per_audio_minute: minute, per_million_characters: characters } = price;
  const plain: [string, bigint | undefined][] = [
    ...zeroPrices(price),
    ...tokenPrices(price),
    ['per_audio_minute', minute],
    ['per_million_characters', characters],
  ];
  const kinds = [
    ...plain.map(([unit, nano]) => ({ unit, kind: '', nano })),
    ...[...(price.per_image ?? [])].map(([kind, nano]) => ({ unit: 'per_image', kind, nano })),
    ...[...(price.per_video_second ?? [])].map(([kind, nano]) => {
      return { unit: 'per_video_second', kind, nano };
    }),
  ];
  return kinds.flatMap(({ unit, kind, nano }) => {
    if (nano === undefined) return [];
    const place = placeOfKind(source, pointer + join(unit), kind);
    return [{ unit, kind, place, dollars: Number(nano) / NANO }];
  });
}

/** The token prices of a model where both are 0, which only `price: free` is to express. */
function zeroPrices(price: Price): [string, bigint][] {
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  const isOther = price.per_image ?? price.per_video_second ?? price.per_audio_minute;
  const isNothing = input + output === 0n && price.per_million_characters === undefined;
  if (isOther !== undefined || !isNothing) return [];
  return [
    ['input_per_million', 0n],
    ['output_per_million', 0n],
  ];
}

/** The place of the price of a kind: of `720p/silent` that of `720p`, if it stands for both. */
function placeOfKind(source: Source, at: string, kind: string): string {
  const parts = kind.split('/');
  const places = parts.map((_, i) => at + join(...parts.slice(0, i + 1)));
  return places.findLast((place) => source.has(place)) ?? at;
}

/** Qualities of images by the names that references have. */
const SAME_QUALITY: Readonly<Record<string, string>> = { standard: 'medium', hd: 'high' };

/** The lowest and the highest price of a unit that a reference has, in dollars. */
export function boundsOf(
  { amounts }: PriceReference,
  { unit, kind }: Pick<Amount, 'unit' | 'kind'>,
): readonly [low: number, high: number] | undefined {
  const [named = ''] = kind.split('/');
  const quality = SAME_QUALITY[named] ?? named;
  return amounts.get(`${unit} ${quality}`) ?? amounts.get(unit);
}
