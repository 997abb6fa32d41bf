import { readTimeZone } from '../../yaml/time-zone.js';
import type {
  LongPromptPrices,
  OffPeakPrices,
  Price,
  TierPrices,
  TokenPrices,
} from '../../core/model.js';
import { isRecord } from '../../lib/objects.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
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
  if (entry?.from === undefined || entry.to === undefined) return {};
  const zone = readTimeZone(source, pointer + join('zone'), entry.zone);
  const [from_minute, to_minute] = [minuteIn(entry.from), minuteIn(entry.to)];
  if (from_minute === to_minute) {
    source.fault(pointer + join('to'), {
      code: 'wrong_value',
      message: 'off_peak: from and to are the same time, so it has no hours',
      hint: 'write when the other prices begin again; a time before `from` is of the next day',
    });
  }
  const prices: Partial<TokenPrices> = readTokenPrices(source, pointer, entry);
  if (Object.keys(prices).length === 0) {
    const hint = 'add one, such as input_per_million: 0.14';
    source.fault(pointer, { code: 'missing_price', message: 'off_peak has no price', hint });
  }
  const off_peak: OffPeakPrices = { from_minute, to_minute, zone, ...prices };
  return { off_peak };
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
