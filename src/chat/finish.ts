const CONTRACT = new Set(['stop', 'length', 'content_filter']);

/** Words that upstreams use beside the contract's own. */
const SYNONYMS: Readonly<Record<string, string>> = {
  model_length: 'length',
  max_tokens: 'length',
  safety: 'content_filter',
  refusal: 'content_filter',
};

/**
 * An upstream's finish reason in the contract's words (specification 2.4). `tool_calls` is said
 * where tool calls were given, whatever the upstream says, and nowhere else.
 */
export function finishReason(said: string | null | undefined, hasToolCalls: boolean): string {
  const word = said ?? 'stop';
  if (hasToolCalls && (word === 'stop' || !CONTRACT.has(word))) return 'tool_calls';
  if (CONTRACT.has(word)) return word;
  return SYNONYMS[word.toLowerCase()] ?? 'stop';
}
