/** Parts of the prompt that may have their own price. If two overlap, the first one counts. */
export const INPUT_CLASSES = [
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'image_input_tokens',
] as const;

/** Parts of the completion. Reasoning may be in any; if others overlap, the first one counts. */
export const OUTPUT_CLASSES = [
  'audio_output_tokens',
  'image_output_tokens',
  'reasoning_tokens',
] as const;

export const TOKEN_CLASSES = [...INPUT_CLASSES, ...OUTPUT_CLASSES] as const;

export type TokenClass = (typeof TOKEN_CLASSES)[number];

/** What is counted beside tokens. */
export const OTHER_UNITS = ['video_seconds', 'audio_seconds', 'images', 'characters'] as const;

/**
 * Tokens as the upstream counts them; billing checks them. The classes are parts of the first two
 * counts: cached, both kinds of cache writes, audio_input and image_input of the prompt, where no
 * token counts twice; reasoning, audio_output and image_output of the completion. A class that the
 * upstream does not report is absent.
 */
export interface TokenUsage extends Partial<Record<TokenClass, number>> {
  prompt_tokens: number;
  completion_tokens: number;
  /** Read from the upstream's cache. */
  cached_tokens?: number;
  /** Written into the upstream's cache, but for those of the next class. */
  cache_write_tokens?: number;
  /** Written into the upstream's cache for an hour. */
  cache_write_1h_tokens?: number;
  /** Audio that was not read from the cache. */
  audio_input_tokens?: number;
  /** Images that were not read from the cache. */
  image_input_tokens?: number;
  audio_output_tokens?: number;
  image_output_tokens?: number;
  /** Part of the output that the upstream may not show. It has no price of its own. */
  reasoning_tokens?: number;
  /** The service tier that the answer names as its own. */
  tier?: string;
  /** How often the upstream has run its own tools, by the names of `per_tool_call`. */
  tool_calls?: Readonly<Record<string, number>>;
}

/** The usage of work that is not counted in tokens, or of none. */
export const NO_TOKENS: TokenUsage = Object.freeze({ prompt_tokens: 0, completion_tokens: 0 });

/** Whether tokens were counted at all. They are not for a video, say. */
export function hasTokens(usage: Counted): boolean {
  return Boolean(usage.prompt_tokens) || Boolean(usage.completion_tokens);
}

type Counted = Readonly<Record<'prompt_tokens' | 'completion_tokens', number | null>>;

/**
 * Usage as a codec reads it from an answer, with the names of the OpenAI wire. Its values are not
 * checked yet.
 */
export interface UpstreamUsage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: {
    cached_tokens?: unknown;
    cache_write_tokens?: unknown;
    cache_write_1h_tokens?: unknown;
    audio_tokens?: unknown;
    image_tokens?: unknown;
  };
  completion_tokens_details?: {
    reasoning_tokens?: unknown;
    audio_tokens?: unknown;
    image_tokens?: unknown;
  };
  /** The answer's own service tier. */
  service_tier?: unknown;
  /** Counts of calls of the upstream's own tools. */
  tool_calls?: Readonly<Record<string, unknown>>;
}
