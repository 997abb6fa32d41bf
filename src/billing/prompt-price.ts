import type { Price } from '../core/model.js';

/** The prices of a call whose prompt has so many tokens, each time that the upstream reads it. */
export function priceOfPrompt(price: Price, prompt_tokens: number): Price {
  const { long_prompt } = price;
  const isLong = long_prompt !== undefined && prompt_tokens > long_prompt.above_tokens;
  return isLong ? priceOfLongPrompt(price) : price;
}

/** The prices of a call with a long prompt; the same price if it has no others for one. */
export function priceOfLongPrompt({ long_prompt, ...price }: Price): Price {
  if (!long_prompt) return price;
  const { above_tokens: _, ...given } = long_prompt;
  return { ...price, ...given };
}
