import {
  TOKEN_UNITS,
  type LongPromptPrices,
  type Price,
  type TokenUnit,
} from '../../core/model.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { readDollars } from '../../yaml/dollars.js';
import { pointer as join, type Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';

const UNITS = Object.keys(TOKEN_UNITS) as TokenUnit[];

/** Reads the prices of long prompts in nano-dollars, from the file's own digits. */
export function readLongPrompt(
  source: Source,
  pointer: string,
  price: PartialLoad<PriceEntry>,
): Partial<Price> {
  const entry = typeof price === 'object' ? price.long_prompt : undefined;
  if (entry?.above_tokens === undefined) return {};
  const long_prompt: LongPromptPrices = { above_tokens: Number(entry.above_tokens) };
  for (const unit of UNITS) {
    if (entry[unit] === undefined) continue;
    long_prompt[TOKEN_UNITS[unit]] = readDollars(source, pointer + join(unit));
  }
  return { long_prompt };
}
