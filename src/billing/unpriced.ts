import { TOKEN_UNITS, type Price, type TokenUnit } from '../core/model.js';
import { isPlainTier } from '../core/service-tiers.js';
import type { TokenClass, TokenUsage } from '../core/usage.js';
import { hasTokenPrice } from './bill.js';

/**
 * The classes of tokens that providers bill at another price than input or output. Images that are
 * read are one where images are made; in chat they cost as much as text.
 */
const UNITS: readonly (readonly [TokenClass, TokenUnit])[] = [
  ['cached_tokens', 'cached_input_per_million'],
  ['cache_write_tokens', 'cache_write_per_million'],
  ['cache_write_1h_tokens', 'cache_write_1h_per_million'],
  ['audio_input_tokens', 'audio_input_per_million'],
  ['audio_output_tokens', 'audio_output_per_million'],
  ['image_output_tokens', 'image_output_per_million'],
];

/**
 * What the upstream reports that no price covers, by the missing fields of the price; empty for a
 * call that costs nothing.
 */
export function unpricedUnits(usage: TokenUsage, price: Price): string[] {
  if (price.free || !hasTokenPrice(price)) return [];
  const { tier, tool_calls = {} } = usage;
  const tiers = tier === undefined ? undefined : price.tiers?.get(tier);
  const units: string[] = [];
  for (const [name, unit] of UNITS) {
    const field = TOKEN_UNITS[unit];
    if (usage[name] && (tiers?.[field] ?? price[field]) === undefined) units.push(unit);
  }
  if (tier !== undefined && !tiers && !isPlainTier(tier)) units.push(`tiers.${tier}`);
  for (const tool of Object.keys(tool_calls)) {
    if (!price.per_tool_call?.has(tool)) units.push(`per_tool_call.${tool}`);
  }
  return units;
}
