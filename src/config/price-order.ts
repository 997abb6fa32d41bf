import { TOKEN_UNIT_FIELDS, type Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { DEAREST_UNIT_NANO } from './price-magnitude.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';

/** Qualities of images from the cheapest to the dearest; the names of one have one rank. */
const QUALITIES: Readonly<Record<string, number>> = {
  low: 0,
  standard: 1,
  medium: 1,
  hd: 2,
  high: 2,
};
const RESOLUTIONS = ['720p', '1080p', '4k'];

/** A price of an image or a second of video, with the words that name its kind. */
interface Kind {
  place: string;
  word: string;
  nano: bigint;
  /** The rank of its quality or resolution. */
  rank: number;
  /** Its pixels, or 1 for a video with sound and 0 for a silent one. */
  more: number;
  /** What must be the same in two prices that are compared by rank. */
  same: string;
}

/**
 * Warns of a price for more that is below the price for less: of `hd` below `standard`, of 4k below
 * 1080p, of sound below silence. No provider charges so; most likely a digit slipped, or two prices
 * were swapped.
 */
export function checkPriceOrder(source: Source, price_at: string, price: Price): void {
  if (price.per_image || price.per_video_second) checkKindOrder(source, price_at, price);
  if (price.long_prompt) checkLongPrompt(source, price_at, price, price.long_prompt);
}

function checkKindOrder(source: Source, price_at: string, price: Price): void {
  const images = [...(price.per_image ?? [])].flatMap(([kind, nano]) => {
    return kind === 'any' ? [] : [imageKind(source, `${price_at}/per_image`, kind, nano)];
  });
  const videos = [...(price.per_video_second ?? [])].map(([kind, nano]) =>
    videoKind(source, `${price_at}/per_video_second`, kind, nano),
  );
  const isTwice = checkSameQuality(source, images);
  // Sizes beside qualities cannot be compared, and are an error of their own.
  const isMixed = new Set(images.map(({ word, same }) => word === same)).size > 1;
  if (!isTwice && !isMixed) checkKinds(source, 'per_image', images);
  checkKinds(source, 'per_video_second', videos);
}

/** The tokens of a prompt that no provider calls long. */
const SHORT = 8_000;

/** Warns of a length that is most likely meant in thousands. */
function checkLength(source: Source, place: string, above_tokens: number): void {
  if (above_tokens >= SHORT || !source.has(place)) return;
  source.fault(place, {
    code: 'price_magnitude',
    message: `long_prompt: above_tokens ${source.word(place)} is short for a long prompt`,
    hint: `if it is meant in thousands write ${above_tokens * 1_000}`,
    severity: 'warning',
  });
}

/** How many times the price of a short prompt a provider may charge for a long one. */
const MANY = 10n;

/** Warns of a price of long prompts that is below that of short ones, or many times it. */
function checkLongPrompt(
  source: Source,
  price_at: string,
  price: Price,
  long_prompt: NonNullable<Price['long_prompt']>,
): void {
  checkLength(source, `${price_at}/long_prompt/above_tokens`, long_prompt.above_tokens);
  let isTurned = false;
  for (const [unit, field] of TOKEN_UNIT_FIELDS) {
    const [long, short] = [long_prompt[field], price[field]];
    // An amount that could not be read has a fault of its own, and counts as 0.
    if (!long || !short || (long >= short && long <= short * MANY)) continue;
    // Where the two blocks are swapped, their first prices say so for all.
    if (long < short && isTurned) continue;
    isTurned ||= long < short;
    const place = `${price_at}/long_prompt/${unit}`;
    const far = `${source.word(place)} is ${long < short ? 'less than' : 'many times the'}`;
    const hint =
      long < short
        ? 'a long prompt costs more than a short one: check both, or swap them'
        : 'providers charge up to four times as much: check both';
    source.fault(place, {
      code: 'price_order',
      message: `long_prompt: ${unit} ${far} ${formatDollars(short)} of a short prompt`,
      hint,
      severity: 'warning',
    });
  }
}

function imageKind(source: Source, at: string, kind: string, nano: bigint): Kind {
  const parts = kind.split('/');
  const size = parts.find((part) => part.includes('x')) ?? '';
  const quality = parts.find((part) => !part.includes('x')) ?? '';
  const [width = 0, height = 0] = size.split('x').map(Number);
  const rank = QUALITIES[quality] ?? 0;
  const place = placeOfKind(source, at, kind);
  return { place, word: parts.join(' '), nano, rank, more: width * height, same: size };
}

function videoKind(source: Source, at: string, kind: string, nano: bigint): Kind {
  const parts = kind.split('/');
  const [resolution = '', sound = ''] = parts;
  const rank = RESOLUTIONS.indexOf(resolution);
  const more = sound === 'audio' ? 1 : 0;
  const word = `${resolution} with${more === 1 ? '' : 'out'} sound`;
  return { place: placeOfKind(source, at, kind), word, nano, rank, more, same: sound };
}

/** The place of the price of a kind: of `720p/silent` that of `720p`, if it stands for both. */
export function placeOfKind(source: Source, at: string, kind: string): string {
  const parts = kind.split('/');
  const places = parts.map((_, i) => at + join(...parts.slice(0, i + 1)));
  return places.findLast((place) => source.has(place)) ?? at;
}

/** Larger images may cost little less, as at providers that count tiles. */
const MUCH = 2n;

/** Compares each price with those for less. Of several in one quality the first is reported. */
function checkKinds(source: Source, unit: 'per_image' | 'per_video_second', all: Kind[]): void {
  const reported = new Set<number>();
  const swapped = all.filter((kind) =>
    all.some((one) => one.rank === kind.rank && isDearer(unit, one, kind)),
  );
  const isSwapped = (one: Kind): boolean => swapped.some(({ rank }) => rank === one.rank);
  for (const kind of all) {
    // Prices that are swapped within their line are not compared with those of other lines.
    const lesser = all.find(
      (one) =>
        (one.rank === kind.rank || !(isSwapped(one) || isSwapped(kind))) &&
        isDearer(unit, one, kind),
    );
    if (!lesser || reported.has(kind.rank)) continue;
    reported.add(kind.rank);
    const dearer = `${formatDollars(lesser.nano)} for ${lesser.word}`;
    source.fault(kind.place, {
      code: 'price_order',
      message: `${unit}: ${source.word(kind.place)} for ${kind.word} is less than ${dearer}`,
      hint: orderHint(kind.nano, lesser.nano),
      severity: 'warning',
    });
  }
}

/** Whether `less` costs more than `kind`, which is of a higher rank, larger or has sound. */
function isDearer(unit: 'per_image' | 'per_video_second', less: Kind, kind: Kind): boolean {
  // One in cents is reported for that.
  if (less.place === kind.place || less.nano > DEAREST_UNIT_NANO[unit]) return false;
  const isComparable = less.same === kind.same || less.same === '' || kind.same === '';
  if (less.rank < kind.rank && isComparable) return kind.nano < less.nano;
  if (less.rank !== kind.rank || less.more >= kind.more) return false;
  return unit === 'per_image' ? kind.nano * MUCH < less.nano : kind.nano < less.nano;
}

/** Suggests the price with its point moved, if that is above the other and not far above. */
function orderHint(nano: bigint, lesser: bigint): string {
  const meant = [10n, 100n].map((by) => nano * by).find((one) => one >= lesser);
  if (meant === undefined || meant > lesser * 5n)
    return 'write a higher price here, or swap the two';
  const slipped = `if its point slipped write ${formatDollars(meant)}`;
  return meant > lesser * 2n ? `swap the two, or ${slipped}` : `${slipped}, or swap the two`;
}

/** Warns of two prices for one quality, which clients may ask for by either name. */
function checkSameQuality(source: Source, images: readonly Kind[]): boolean {
  const seen = new Map<string, Kind>();
  const reported = new Set<string>();
  for (const kind of images) {
    const [word = ''] = kind.word.split(' ');
    const key = `${kind.rank} ${kind.same}`;
    const [first = ''] = seen.get(key)?.word.split(' ') ?? [];
    const other = seen.get(key);
    seen.set(key, kind);
    if (!other || word === first || other.nano === kind.nano || reported.has(word)) continue;
    reported.add(word);
    const place = kind.same === '' ? kind.place : kind.place.slice(0, kind.place.lastIndexOf('/'));
    source.fault(place, {
      code: 'same_quality',
      message: `per_image: ${quote(word)} and ${quote(first)} are one quality, at two prices`,
      hint: 'keep one of the two, and write low for a cheaper quality',
      at: 'key',
      severity: 'warning',
    });
  }
  return reported.size > 0;
}
