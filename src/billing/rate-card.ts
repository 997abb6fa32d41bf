import {
  DAY_MINUTES,
  WEEKDAYS,
  type OffPeakPrices,
  type Price,
  type TierPrices,
  type Upstream,
} from '../core/model.js';
import { maxNano } from '../lib/money.js';
import { memoizeByObject } from '../lib/objects.js';
import { isPlainTier, setTier } from '../core/service-tiers.js';

/** What decides which prices of a rate card a call has. */
export interface CardFacts {
  /** The service tier; one without prices of its own has the plain ones. */
  tier?: string | undefined;
  /** When the call to the upstream began; absent for an example, which is of no off-peak hour. */
  began_ms?: number | undefined;
  /** The tokens of its prompt. */
  prompt_tokens: number;
}

/** The prices of one call: those of its tier, of its hour and of a long prompt over the others. */
export function cardOf(price: Price, { tier, began_ms, prompt_tokens }: CardFacts): Price {
  const { tiers } = price;
  const inTier = laidOver(price, tier === undefined ? undefined : tiers?.get(tier));
  const inHour = laidOver(inTier, began_ms === undefined ? undefined : hoursAt(price, began_ms));
  const { long_prompt } = inHour;
  const isLong = long_prompt !== undefined && prompt_tokens > long_prompt.above_tokens;
  return isLong ? laidOver(inHour, long_prompt) : inHour;
}

function hoursAt({ off_peak }: Price, began_ms: number): OffPeakPrices | undefined {
  return off_peak?.find((block) => isWithin(block, began_ms));
}

/** The price of calls that begin at this time, and what their upstream takes then. */
export function priceAtTime(price: Price, began_ms: number): Price {
  const hours = hoursAt(price, began_ms);
  if (!hours) return price;
  const { cost, tiers, ...plain } = price;
  const inHour = laidOver(plain, hours);
  // The prices of an hour come over those of a tier.
  if (tiers) inHour.tiers = new Map([...tiers].map(([name, own]) => [name, { ...own, ...hours }]));
  if (cost) inHour.cost = priceAtTime(cost, began_ms);
  return inHour;
}

/**
 * The max cost of work other than chat at the dearest of its upstreams, at any hour, with the fee
 * of each call that the upstream gets for it. `costWith` has the cost without fees. Its clients
 * have no word for a service tier: where the operator sets none, the upstream takes the plain one.
 */
export function dearestCost(
  upstreams: readonly Upstream[],
  costWith: (card: Price, upstream: Upstream) => bigint,
  callsTo: (upstream: Upstream) => number = () => 1,
): bigint {
  const costs = upstreams.flatMap((upstream) => {
    const { price } = upstream;
    const fees = BigInt(callsTo(upstream)) * (price.per_request ?? 0n);
    const cards = cardsOf(price, { tier: setTier(upstream) ?? 'default', prompt_tokens: 0 });
    return cards.map((card) => costWith(card, upstream) + fees);
  });
  return maxNano(costs);
}

/** Each card that a call may turn out to have, if its prompt has at most so many tokens. */
export function cardsOf(
  price: Price,
  { tier, prompt_tokens }: Pick<CardFacts, 'tier' | 'prompt_tokens'>,
): Price[] {
  // Most prices are plain, and every call asks.
  if (!price.tiers && !price.off_peak && !price.long_prompt) return [price];
  const { off_peak = [] } = price;
  return tiersThatMayCome(price, tier)
    .map((own) => laidOver(price, own))
    .flatMap((card) => [card, ...off_peak.map((hours) => laidOver(card, hours))])
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
/** The day of the week on which time began, in `WEEKDAYS`: a Thursday. */
const FIRST_WEEKDAY = 3;

function isWithin(hours: OffPeakPrices, time_ms: number): boolean {
  const { days, from_minute, to_minute } = hours;
  const [weekday, minute] = localTime(time_ms, hours);
  const isPast = minute >= from_minute;
  const isBefore = minute < to_minute;
  const spansMidnight = from_minute >= to_minute;
  if (spansMidnight ? !isPast && !isBefore : !isPast || !isBefore) return false;
  // After midnight, the times began on the day before.
  const began = isPast ? weekday : (weekday + 6) % 7;
  return !days || days.some((day) => WEEKDAYS.indexOf(day) === began);
}

/** The day of the week, and the minutes since midnight on the clocks of the zone. */
function localTime(time_ms: number, hours: OffPeakPrices): [weekday: number, minute: number] {
  if (hours.zone === 'UTC') {
    const minutes = Math.floor(time_ms / MINUTE_MS);
    return [(Math.floor(minutes / DAY_MINUTES) + FIRST_WEEKDAY) % 7, minutes % DAY_MINUTES];
  }
  const parts = clockOf(hours).formatToParts(time_ms);
  const part = (wanted: string): string => parts.find(({ type }) => type === wanted)?.value ?? '';
  const weekday = WEEKDAYS.findIndex((day) => day === part('weekday').toLowerCase());
  return [weekday, Number(part('hour')) * 60 + Number(part('minute'))];
}

const clockOf = memoizeByObject(
  ({ zone: timeZone }: OffPeakPrices) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
);
