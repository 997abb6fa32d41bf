/** Tokens as the upstream counts them. Not yet believed: see billing. */
export interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
}

/** Usage as the contract shows it (specification 2.4). */
export function usageBody(usage: TokenUsage): TokenUsage & { total_tokens: number } {
  const { prompt_tokens, completion_tokens } = usage;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
