/**
 * Tokens as the upstream counts them. Not yet believed: see billing. The classes below the first
 * two are parts of them: cached, cache_write and audio_input of the prompt, reasoning and
 * audio_output of the completion. A class that the upstream does not name is absent.
 */
export interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
  /** Read from the upstream's cache. */
  cached_tokens?: number;
  /** Written into it. */
  cache_write_tokens?: number;
  audio_input_tokens?: number;
  audio_output_tokens?: number;
  /** Part of the output that the upstream may not show. It has no price of its own. */
  reasoning_tokens?: number;
}

/**
 * Usage as a codec reads it from an answer, in the words of the OpenAI wire, whatever the upstream
 * calls it. Nothing in it is believed yet.
 */
export interface UpstreamUsage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: {
    cached_tokens?: unknown;
    cache_write_tokens?: unknown;
    audio_tokens?: unknown;
  };
  completion_tokens_details?: { reasoning_tokens?: unknown; audio_tokens?: unknown };
}

/** Usage as the contract shows it (specification 2.4). */
export function usageBody(
  usage: TokenUsage,
): Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'> & { total_tokens: number } {
  const { prompt_tokens, completion_tokens } = usage;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
