import type { LongPromptPrices, Price, TierPrices } from '../../core/model.js';
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

export function readToolPrices(source: Source, pointer: string, price: Entry): Partial<Price> {
  const entry = typeof price === 'object' ? price.per_tool_call : undefined;
  if (!isRecord(entry)) return {};
  const prices = Object.keys(entry).map((name): [string, bigint] => {
    return [name, readDollars(source, pointer + join(name))];
  });
  return { per_tool_call: new Map(prices) };
}
