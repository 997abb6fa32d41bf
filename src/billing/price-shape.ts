import { formatDollars } from '../lib/money.js';
import {
  DAY_MINUTES,
  TOKEN_UNIT_FIELDS,
  type LongPromptPrices,
  type OffPeakPrices,
  type Price,
  type TokenPrices,
  type TokenUnit,
  type UnitPrices,
} from '../core/model.js';

/**
 * A price as gateway.yaml writes it: dollars by unit, or `free`. A number in it is not of dollars
 * but of tokens, the `above_tokens` of `long_prompt`.
 */
export type PriceShape = 'free' | PriceBlock;

export interface PriceBlock {
  [unit: string]: string | number | string[] | PriceBlock | HoursBlock[];
}

/** The hours of off-peak prices as gateway.yaml writes them. */
interface HoursShape {
  days?: string[];
  /** Absent, with `to`, for whole days. */
  from?: string;
  to?: string;
  zone: string;
}

/** Off-peak prices, one of several. */
type HoursBlock = PriceBlock & HoursShape;

/** Writes a price as gateway.yaml does. */
export function priceShape(price: Price): PriceShape {
  if (price.free) return 'free';
  const shape: PriceBlock = {};
  for (const [unit, nano] of tokenPrices(price)) shape[unit] = formatDollars(nano);
  Object.assign(shape, longPromptShape(price));
  const { tiers, off_peak, per_tool_call, per_request } = price;
  if (tiers) {
    const tierShapes = [...tiers].map(([name, tier]) => {
      return [name, { ...tokensInDollars(tier), ...longPromptShape(tier) }] as const;
    });
    shape.tiers = Object.fromEntries(tierShapes);
  }
  const blocks = (off_peak ?? []).map((hours): HoursBlock => {
    return { ...hoursShape(hours), ...tokensInDollars(hours), ...unitsInDollars(hours) };
  });
  const [block] = blocks;
  if (block) shape.off_peak = blocks.length === 1 ? block : blocks;
  if (per_tool_call) shape.per_tool_call = inDollars(per_tool_call);
  if (per_request !== undefined) shape.per_request = formatDollars(per_request);
  return Object.assign(shape, unitsInDollars(price));
}

function unitsInDollars({ per_image, per_video_second, ...prices }: UnitPrices): PriceBlock {
  const shape: PriceBlock = {};
  if (per_image) shape.per_image = inDollars(per_image);
  if (per_video_second) shape.per_video_second = inDollars(per_video_second);
  const { per_million_characters: characters, per_audio_minute: minute } = prices;
  if (characters !== undefined) shape.per_million_characters = formatDollars(characters);
  if (minute !== undefined) shape.per_audio_minute = formatDollars(minute);
  return shape;
}

function longPromptShape({ long_prompt }: { long_prompt?: LongPromptPrices }): PriceBlock {
  if (!long_prompt) return {};
  const { above_tokens } = long_prompt;
  return { long_prompt: { above_tokens, ...tokensInDollars(long_prompt) } };
}

function hoursShape({ days, from_minute, to_minute, zone }: OffPeakPrices): HoursShape {
  const times = { from: clockTime(from_minute), to: clockTime(to_minute) };
  return { ...(days && { days: [...days] }), ...(to_minute < DAY_MINUTES && times), zone };
}

/** The hours of off-peak prices in words. */
export function textOfHours(hours: OffPeakPrices): string {
  return hoursText(hoursShape(hours));
}

/** `on Fri, Sat from 22:00 to 06:00 UTC` */
function hoursText({ days, from, to, zone }: HoursShape): string {
  const names = days?.map((day) => day.charAt(0).toUpperCase() + day.slice(1));
  const on = names ? [`on ${names.join(', ')}`] : [];
  const times = from === undefined || to === undefined ? [] : [`from ${from} to ${to}`];
  return [...on, ...times, zone].join(' ');
}

function clockTime(minute: number): string {
  const [hours, minutes] = [Math.floor(minute / 60), minute % 60];
  return [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');
}

/**
 * The amounts of a block and of those within it, by the names that lead there. The name of one of
 * several blocks are its hours.
 */
export function amountsIn(block: PriceBlock): [names: string[], dollars: string][] {
  const behind = (names: string[], inner: PriceBlock): [string[], string][] => {
    return amountsIn(inner).map(([more, dollars]) => [[...names, ...more], dollars]);
  };
  return Object.entries(block).flatMap(([name, value]): [string[], string][] => {
    if (Array.isArray(value)) {
      return value.flatMap((one) =>
        typeof one === 'string' ? [] : behind([name, hoursText(one)], one),
      );
    }
    if (typeof value === 'object') return behind([name], value);
    return isAmount(name, value) ? [[[name], value]] : [];
  });
}

/** The values of off-peak prices that are no dollars. */
const HOURS: ReadonlySet<string> = new Set(['from', 'to', 'zone']);

/** Whether a value of a price is of dollars. */
export function isAmount(name: string, value: string | number): value is string {
  return typeof value === 'string' && !HOURS.has(name);
}

function tokensInDollars(prices: Partial<TokenPrices>): Record<string, string> {
  const units = TOKEN_UNIT_FIELDS.flatMap(([unit, field]) => {
    const nano = prices[field];
    return nano === undefined ? [] : [[unit, formatDollars(nano)]];
  });
  return Object.fromEntries(units) as Record<string, string>;
}

/**
 * The prices of tokens in nano-dollars per million, with those classes that have a price of their
 * own. Empty if tokens cost nothing.
 */
export function tokenPrices(price: Price): [TokenUnit, bigint][] {
  const given = TOKEN_UNIT_FIELDS.flatMap(([unit, field]): [TokenUnit, bigint][] => {
    const nano = price[field];
    const isAbsent = unit === 'output_per_million' && price.input_only;
    return nano === undefined || isAbsent ? [] : [[unit, nano]];
  });
  return given.some(([, nano]) => nano > 0n) ? given : [];
}

/** Whether a price with these units is by tokens, for work that can also have a unit of its own. */
export function isByTokens(given: readonly string[]): boolean {
  return given.includes('input_per_million') || given.includes('output_per_million');
}

function inDollars(prices: ReadonlyMap<string, bigint>): Record<string, string> {
  return Object.fromEntries([...prices].map(([unit, nano]) => [unit, formatDollars(nano)]));
}
