import type { Price } from '../../core/model.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { readTokenPrices } from '../../yaml/dollars.js';
import type { Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';

/** Reads the prices of long prompts in nano-dollars, from the file's own digits. */
export function readLongPrompt(
  source: Source,
  pointer: string,
  price: PartialLoad<PriceEntry>,
): Partial<Price> {
  const entry = typeof price === 'object' ? price.long_prompt : undefined;
  if (entry?.above_tokens === undefined) return {};
  const above_tokens = Number(entry.above_tokens);
  return { long_prompt: { above_tokens, ...readTokenPrices(source, pointer, entry) } };
}
