import type { OffPeakPrices, Price, TierPrices } from '../core/model.js';
import { memoizeByObject } from '../lib/objects.js';
import { isPlainTier } from '../core/service-tiers.js';

/** What decides which prices of a rate card a call has. */
export interface CardFacts {
  /** The service tier; one without prices of its own has the plain ones. */
  tier?: string | undefined;
  /** When the call to the upstream began; absent for an example, which is of no off-peak hour. */
  began_ms?: number;
  /** The tokens of its prompt. */
  prompt_tokens: number;
}

/** The prices of one call: those of its tier, of its hour and of a long prompt over the others. */
export function cardOf(price: Price, { tier, began_ms, prompt_tokens }: CardFacts): Price {
  const { tiers, off_peak } = price;
  const inTier = laidOver(price, tier === undefined ? undefined : tiers?.get(tier));
  const inHour =
    began_ms !== undefined && off_peak && isWithin(off_peak, began_ms)
      ? laidOver(inTier, off_peak)
      : inTier;
  const { long_prompt } = inHour;
  const isLong = long_prompt !== undefined && prompt_tokens > long_prompt.above_tokens;
  return isLong ? laidOver(inHour, long_prompt) : inHour;
}

/** Each card that a call may turn out to have, if its prompt has at most so many tokens. */
export function cardsOf(
  price: Price,
  { tier, prompt_tokens }: Pick<CardFacts, 'tier' | 'prompt_tokens'>,
): Price[] {
  const { off_peak } = price;
  return tiersThatMayCome(price, tier)
    .map((own) => laidOver(price, own))
    .flatMap((card) => (off_peak ? [card, laidOver(card, off_peak)] : [card]))
    .flatMap((card) => {
      const { long_prompt } = card;
      const mayBeLong = long_prompt !== undefined && prompt_tokens > long_prompt.above_tokens;
      return mayBeLong ? [card, laidOver(card, long_prompt)] : [card];
    });
}

/** Each card that any call may have. */
export function allCards(price: Price): Price[] {
  return cardsOf(price, { tier: undefined, prompt_tokens: Infinity });
}

/**
 * The prices of the tiers in which an upstream may serve a call that asks for one: in that, or as
 * any other. Where it asks for none, the upstream chooses.
 */
function tiersThatMayCome({ tiers }: Price, asked: string | undefined): (TierPrices | undefined)[] {
  if (!tiers) return [undefined];
  const own = asked === undefined ? undefined : tiers.get(asked);
  if (own) return [undefined, own];
  return asked !== undefined && isPlainTier(asked) ? [undefined] : [undefined, ...tiers.values()];
}

/** A card with some of its prices replaced. A price that is not given stays as it is. */
function laidOver(card: Price, given: Partial<Price> | undefined): Price {
  return given ? { ...card, ...given } : card;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

function isWithin(hours: OffPeakPrices, time_ms: number): boolean {
  const { from_minute, to_minute } = hours;
  const minute = minuteOfDay(time_ms, hours);
  return from_minute < to_minute
    ? minute >= from_minute && minute < to_minute
    : minute >= from_minute || minute < to_minute;
}

/** The minutes since midnight on the clocks of the zone. */
function minuteOfDay(time_ms: number, hours: OffPeakPrices): number {
  if (hours.zone === 'UTC') return Math.floor(time_ms / MINUTE_MS) % DAY_MINUTES;
  const [hour = 0, minute = 0] = clockOf(hours).format(time_ms).split(':').map(Number);
  return hour * 60 + minute;
}

const clockOf = memoizeByObject(
  ({ zone: timeZone }: OffPeakPrices) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
);
