import { TOKEN_UNIT_FIELDS, type Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import type { PriceBounds } from '../schema-types/price-bounds.js';
import type { Source } from '../yaml/source.js';
import type { Advice, Warning } from './advice.js';
import { boundsOf, paidPrices, type Amount, type PaidPrice } from './price-compare.js';
import { farUnits } from './price-off-list.js';

export const priceOrder: Advice = {
  code: 'price_order',
  saves: 'the dearer of two kinds that is sold below the cheaper one, by a swap or a slipped point',
  *check(view) {
    const { source, prices } = view;
    for (const paid of paidPrices(view)) {
      const far = farUnits(view, paid);
      yield* cachedAboveInput(source, paid, far);
      yield* outputBelowInput(source, paid, far);
      yield* kindsTurned(source, paid, prices.bounds);
      yield* longBelowShort(source, paid, prices.bounds);
    }
  },
};

function* cachedAboveInput(
  source: Source,
  { pointer, price, payers }: PaidPrice,
  far: ReadonlySet<string>,
): Iterable<Warning> {
  const unit = 'cached_input_per_million';
  const { cached_input_nano_per_million: cached, input_nano_per_million: input } = price;
  const isDear = cached !== undefined && input > 0n && cached > input && source.has(pointer);
  if (!isDear || far.has(unit) || payers.length === 0) return;
  const place = `${pointer}/${unit}`;
  yield {
    pointer: place,
    message: `${unit}: ${source.word(place)} is more than input_per_million`,
    hint: 'what is read from a cache costs less: check both, or swap them',
  };
}

function* outputBelowInput(
  source: Source,
  { pointer, price, payers }: PaidPrice,
  far: ReadonlySet<string>,
): Iterable<Warning> {
  const unit = 'output_per_million';
  const place = `${pointer}/${unit}`;
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  if (output === 0n || output >= input || !source.has(place) || far.has(unit)) return;
  const known = payers.flatMap(({ reference }) => {
    const [input_at, output_at] = ['input_per_million', unit].map(
      (one) => reference && boundsOf(reference, { unit: one, kind: '' })?.[0],
    );
    return input_at === undefined || output_at === undefined ? [] : [output_at > input_at];
  });
  // Some providers charge a little less for output; none a twelfth.
  const isUsual = output * 2n > input || output * 12n < input;
  if (known.length > 0 ? !known.every(Boolean) : isUsual) return;
  yield {
    pointer: place,
    message: `${unit}: ${source.word(place)} is below input_per_million`,
    hint: 'output costs more than input: check both, or swap them',
  };
}

/** Qualities of images from the cheapest to the dearest; the names of one have one rank. */
const QUALITIES: Readonly<Record<string, number>> = {
  low: 0,
  standard: 1,
  medium: 1,
  hd: 2,
  high: 2,
};
const RESOLUTIONS = ['720p', '1080p', '4k'];

/** The price of a kind of images or videos, with the ranks by which kinds are compared. */
interface Ranked extends Amount {
  /** The rank of its quality or resolution. */
  rank: number;
  /** Its pixels, or 1 for a video with sound and 0 for a silent one. */
  more: number;
  /** What must be the same in two prices that are compared by rank. */
  same: string;
}

/** Larger images may cost little less, as at providers that count tiles. */
const MUCH = 2;

function* kindsTurned(
  source: Source,
  { amounts }: PaidPrice,
  { units }: PriceBounds,
): Iterable<Warning> {
  const all = amounts.flatMap((amount) => rankedOf(amount) ?? []);
  const told = new Set<string>();
  const isWithin = (one: Ranked, other: Ranked): boolean => one.rank === other.rank;
  const swapped = all.filter((kind) =>
    all.some((one) => isWithin(one, kind) && isTurned(one, kind)),
  );
  const isSwapped = (kind: Ranked): boolean => swapped.some((one) => isWithin(one, kind));
  for (const kind of all) {
    const lesser = all.find((one) => {
      // Prices that are swapped within their line are not compared with those of other lines.
      const isApart = !isWithin(one, kind) && (isSwapped(one) || isSwapped(kind));
      return !isApart && isTurned(one, kind) && one.dollars <= highest(one, units);
    });
    const key = `${kind.unit} ${kind.rank}`;
    if (!lesser || told.has(key)) continue;
    told.add(key);
    const [word, lesser_word] = [kind, lesser].map((one) => one.kind.replace('/', ' '));
    const dearer = `${formatDollars(BigInt(Math.round(lesser.dollars * 1e9)))} for ${lesser_word}`;
    yield {
      pointer: kind.place,
      message: `${kind.unit}: ${source.word(kind.place)} for ${word} is less than ${dearer}`,
      hint: 'swap the two, or check the point of each',
    };
  }
}

/** A price above it is most likely in cents, and has a warning for that. */
function highest({ unit }: Amount, units: PriceBounds['units']): number {
  return units[unit]?.highest ?? Infinity;
}

function rankedOf(amount: Amount): Ranked | undefined {
  const parts = amount.kind.split('/');
  if (amount.unit === 'per_video_second') {
    const [resolution = '', sound = ''] = parts;
    const more = sound === 'audio' ? 1 : 0;
    return { ...amount, rank: RESOLUTIONS.indexOf(resolution), more, same: sound };
  }
  if (amount.unit !== 'per_image' || amount.kind === 'any') return undefined;
  const size = parts.find((part) => part.includes('x')) ?? '';
  const quality = parts.find((part) => !part.includes('x')) ?? '';
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { ...amount, rank: QUALITIES[quality] ?? 0, more: width * height, same: size };
}

/** Whether `less` costs more than `kind`, which is of a higher rank, larger or has sound. */
function isTurned(less: Ranked, kind: Ranked): boolean {
  if (less.unit !== kind.unit || less.place === kind.place) return false;
  const isComparable = less.same === kind.same || less.same === '' || kind.same === '';
  if (less.rank < kind.rank && isComparable) return kind.dollars < less.dollars;
  if (less.rank !== kind.rank || less.more >= kind.more) return false;
  return kind.unit === 'per_image'
    ? kind.dollars * MUCH < less.dollars
    : kind.dollars < less.dollars;
}

function* longBelowShort(
  source: Source,
  { pointer, price }: PaidPrice,
  { long_prompt: { most } }: PriceBounds,
): Iterable<Warning> {
  const turned = TOKEN_UNIT_FIELDS.flatMap(([unit, field]) => {
    const [long, short] = [price.long_prompt?.[field], (price as Partial<Price>)[field]];
    if (!long || !short) return [];
    const isLess = long < short;
    return isLess || Number(long) > Number(short) * most ? [{ unit, short, isLess }] : [];
  });
  // Where the two blocks are swapped, their first prices say so for all.
  const [first] = turned;
  if (!first) return;
  const place = `${pointer}/long_prompt/${first.unit}`;
  const far = first.isLess ? 'less than' : 'many times the';
  const short = `${formatDollars(first.short)} of a short prompt`;
  yield {
    pointer: place,
    message: `long_prompt: ${first.unit} ${source.word(place)} is ${far} ${short}`,
    hint: first.isLess
      ? 'a long prompt costs more than a short one: check both, or swap them'
      : 'providers charge up to four times as much: check both',
  };
}
