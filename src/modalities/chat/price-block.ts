import { readTimeZone } from '../../yaml/time-zone.js';
import {
  DAY_MINUTES,
  WEEKDAYS,
  type LongPromptPrices,
  type OffPeakPrices,
  type Price,
  type TierPrices,
  type TokenPrices,
} from '../../core/model.js';
import { isRecord } from '../../lib/objects.js';
import type { OffPeakEntry, PriceEntry } from '../../schema-types/gateway.js';
import { readDollars, readTokenPrices } from '../../yaml/dollars.js';
import { pointer as join, type Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';

// Each of these reads a block of a price in nano-dollars, from the file's own digits.

type Entry = PartialLoad<PriceEntry>;

export function readLongPrompt(source: Source, pointer: string, price: Entry): Partial<Price> {
  const entry = typeof price === 'object' ? price.long_prompt : undefined;
  return longPromptIn(source, pointer, entry);
}

function longPromptIn(
  source: Source,
  pointer: string,
  entry: PartialLoad<NonNullable<Exclude<PriceEntry, string>['long_prompt']>> | undefined,
): { long_prompt?: LongPromptPrices } {
  if (entry?.above_tokens === undefined) return {};
  const above_tokens = Number(entry.above_tokens);
  return { long_prompt: { above_tokens, ...readTokenPrices(source, pointer, entry) } };
}

export function readTiers(source: Source, pointer: string, price: Entry): Partial<Price> {
  const entries = typeof price === 'object' ? Object.entries(price.tiers ?? {}) : [];
  const tiers = entries.map(([name, entry = {}]): [string, TierPrices] => {
    const at = pointer + join(name);
    const long = longPromptIn(source, at + join('long_prompt'), entry.long_prompt);
    return [name, { ...readTokenPrices(source, at, entry), ...long }];
  });
  return tiers.length > 0 ? { tiers: new Map(tiers) } : {};
}

export function readOffPeak(source: Source, pointer: string, price: Entry): Partial<Price> {
  const entry = typeof price === 'object' ? price.off_peak : undefined;
  const off_peak = offPeakIn(source, pointer, entry);
  return off_peak.length > 0 ? { off_peak } : {};
}

/** The blocks of a list, or the one that stands without a list. */
function offPeakIn(
  source: Source,
  pointer: string,
  entry: PartialLoad<OffPeakEntry> | undefined,
): OffPeakPrices[] {
  if (entry === undefined) return [];
  if (isList(entry)) return entry.flatMap((one, at) => offPeakIn(source, pointer + join(at), one));
  const { days, from, to } = entry;
  const isWhole = from === undefined && to === undefined;
  if (isWhole && days === undefined) {
    // A key that is there has a fault of its own.
    if (source.keys(pointer)?.some((key) => HOURS.includes(key))) return [];
    source.fault(pointer, {
      code: 'missing_key',
      message: 'off_peak says neither hours nor days',
      hint: "add from: '16:30' and to: '00:30', or days: [sat, sun]",
    });
    return [];
  }
  if (!isWhole && (from === undefined || to === undefined)) return [];
  const zone = readTimeZone(source, pointer + join('zone'), entry.zone);
  const from_minute = from === undefined ? 0 : minuteIn(from);
  const to_minute = to === undefined ? DAY_MINUTES : minuteIn(to);
  if (from_minute === to_minute) {
    source.fault(pointer + join('to'), {
      code: 'wrong_value',
      message: 'off_peak: from and to are the same time, so it has no hours',
      hint: 'write when the other prices begin again, or leave both out for whole `days`',
    });
  }
  const prices: Partial<TokenPrices> = readTokenPrices(source, pointer, entry);
  if (Object.keys(prices).length === 0) {
    const hint = 'add one, such as input_per_million: 0.14';
    source.fault(pointer, { code: 'missing_price', message: 'off_peak has no price', hint });
  }
  const on = days && { days: WEEKDAYS.filter((day) => days.includes(day)) };
  return [{ ...on, from_minute, to_minute, zone, ...prices }];
}

const HOURS = ['days', 'from', 'to'];

function isList<Item>(value: object | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value);
}

/** The minutes since midnight of a time such as 16:30. */
function minuteIn(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

export function readToolPrices(source: Source, pointer: string, price: Entry): Partial<Price> {
  const entry = typeof price === 'object' ? price.per_tool_call : undefined;
  if (!isRecord(entry)) return {};
  const prices = Object.keys(entry).map((name): [string, bigint] => {
    return [name, readDollars(source, pointer + join(name))];
  });
  return { per_tool_call: new Map(prices) };
}

export function readRequestPrice(source: Source, pointer: string): Partial<Price> {
  return { per_request: readDollars(source, pointer) };
}
