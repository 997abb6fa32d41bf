import type { Price } from '../core/model.js';
import { divideUp } from '../lib/money.js';
import type { Modalities } from '../pipeline/modality.js';
import type { PriceEntry, ProviderPrice } from '../schema-types/gateway.js';
import type { Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import { readPrice } from './prices.js';

/** A share in ten-thousandths, so that it stays an integer: 10,000 is all of it. */
type Share = bigint;

const WHOLE: Share = 10_000n;

/** A share of list prices, by which each upstream sells its own model. */
export interface ListTerms {
  list_share: Share;
}

/** What a price says: prices, or a share of those of the list. */
export type PriceTerms = Price | ListTerms;

const FREE: Price = { free: true, input_nano_per_million: 0n, output_nano_per_million: 0n };

export function isListTerms(terms: PriceTerms | undefined): terms is ListTerms {
  return terms !== undefined && 'list_share' in terms;
}

/** Whether the price at this place is that of the list, or a share of it. */
export function isListPrice(source: Source, pointer: string): boolean {
  return source.text(pointer) === 'list' || source.has(`${pointer}/list`);
}

/** Reads `free`, `list`, a margin on the list, or prices. */
export function readPriceTerms(
  source: Source,
  pointer: string,
  entry: PartialLoad<PriceEntry> | PartialLoad<ProviderPrice>,
  modalities: Modalities,
): PriceTerms {
  if (entry === 'free') return FREE;
  if (entry === 'list') return { list_share: WHOLE };
  if (typeof entry === 'object' && source.has(`${pointer}/list`)) {
    return { list_share: readMargin(source, pointer) };
  }
  return readPrice(source, pointer, entry, modalities);
}

/** The share of list prices that a margin such as `+10%` leaves. */
function readMargin(source: Source, pointer: string): Share {
  const other = source.keys(pointer)?.find((key) => key !== 'list');
  if (other !== undefined) {
    const message = 'price: with list, each unit has the price of the list and its margin';
    const hint = `remove ${other}, or write all prices in place of list`;
    source.fault(`${pointer}/${other}`, { code: 'price_unit', message, hint, at: 'key' });
  }
  const place = `${pointer}/list`;
  const share = WHOLE + shareIn(source.text(place) ?? '');
  if (share > 0n) return share;
  source.fault(place, {
    code: 'wrong_value',
    message: `price.list: ${source.word(place)} leaves nothing of the price`,
    hint: 'write price: free if nobody is to pay',
  });
  return WHOLE;
}

/** The discount that the provider gives on its prices; 0 where the file has none. */
export function readDiscount(source: Source, pointer: string): Share {
  return shareIn(source.text(`${pointer}/discount`) ?? '');
}

/** A percentage with two decimals at most, such as `+10%`; 0 for a text that is none. */
function shareIn(text: string): Share {
  const [, sign, whole, fraction = ''] = /^([+-]?)(\d+)(?:\.(\d{1,2}))?\s?%$/u.exec(text) ?? [];
  if (whole === undefined) return 0n;
  const share = BigInt(whole + fraction.padEnd(2, '0'));
  return sign === '-' ? -share : share;
}

/** The price of an upstream at those terms, with what it takes itself where that is another. */
export function priceAt(
  terms: PriceTerms,
  listed: Price | undefined,
  discount: Share,
): Price | undefined {
  const full = isListTerms(terms) ? listed : terms;
  if (!full || full.free) return full;
  const price = isListTerms(terms) ? shareOf(full, terms.list_share) : full;
  const isSame = price === full && discount === 0n;
  return isSame ? price : { ...price, cost: shareOf(full, WHOLE - discount) };
}

/** Each amount of a price, rounded up to the nano-dollar. */
function shareOf(price: Price, share: Share): Price {
  return share === WHOLE ? price : (shared(price, share) as Price);
}

/** All amounts of a price are bigints, and nothing else in it is one. */
function shared(value: unknown, share: Share): unknown {
  if (typeof value === 'bigint') return divideUp(value * share, WHOLE);
  if (Array.isArray(value)) return value.map((inner) => shared(inner, share));
  if (value instanceof Map) {
    return new Map([...value].map(([name, inner]) => [name, shared(inner, share)]));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, shared(inner, share)]),
  );
}
