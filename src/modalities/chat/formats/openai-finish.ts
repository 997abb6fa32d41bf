const CONTRACT = new Set(['stop', 'length', 'content_filter']);

/** Words that upstreams use beside the contract's own. */
const SYNONYMS = new Map([
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
]);

/**
 * An upstream's finish reason in the contract's words (specification 2.4). `tool_calls` is said
 * where tool calls were given and not cut short, whatever the upstream says, and nowhere else.
 */
export function finishReason(said: string | null | undefined, hasToolCalls: boolean): string {
  const word = (said ?? 'stop').toLowerCase();
  const known = SYNONYMS.get(word) ?? (CONTRACT.has(word) ? word : 'stop');
  return known === 'stop' && hasToolCalls ? 'tool_calls' : known;
}
