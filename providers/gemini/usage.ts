import { isRecord } from '../../src/lib/objects.js';
import type { UpstreamUsage } from '../../src/core/usage.js';
import { listIn, type Fields } from '../gemini-wire.js';

/**
 * The usage of one event; undefined if it has none. Each event has the usage so far, so the last
 * one counts. Thoughts are counted apart from the candidates, and the tokens that the upstream's
 * own tools read apart from the prompt.
 */
export function usageIn(event: Fields): UpstreamUsage | undefined {
  const counts = event['usageMetadata'];
  if (!isRecord(counts)) return undefined;
  const prompt_tokens = sum(counts, 'promptTokenCount', 'toolUsePromptTokenCount');
  const completion_tokens = sum(counts, 'candidatesTokenCount', 'thoughtsTokenCount');
  if (!prompt_tokens && !completion_tokens) return undefined;
  const { cachedContentTokenCount: cached, thoughtsTokenCount: thoughts } = counts;
  // Sound that was read from the cache is counted there.
  const heard = soundIn(counts, 'promptTokensDetails') - soundIn(counts, 'cacheTokensDetails');
  const spoken = soundIn(counts, 'candidatesTokensDetails');
  const input = {
    ...(isSaid(cached) && { cached_tokens: cached }),
    ...(heard > 0 && { audio_tokens: heard }),
  };
  const output = {
    ...(isSaid(thoughts) && { reasoning_tokens: thoughts }),
    ...(spoken > 0 && { audio_tokens: spoken }),
  };
  return {
    prompt_tokens,
    completion_tokens,
    ...(Object.keys(input).length > 0 && { prompt_tokens_details: input }),
    ...(Object.keys(output).length > 0 && { completion_tokens_details: output }),
  };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** NaN where one of them is no count, so that nobody believes it. */
function sum(counts: Fields, ...names: string[]): number {
  let total = 0;
  for (const name of names) {
    const count = counts[name];
    if (isSaid(count)) total += isCount(count) ? count : NaN;
  }
  return total;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function soundIn(counts: Fields, name: string): number {
  const tokens = listIn(counts, name)
    .filter(({ modality }) => modality === 'AUDIO')
    .map(({ tokenCount }) => (isCount(tokenCount) ? tokenCount : 0));
  return tokens.reduce((total, count) => total + count, 0);
}
