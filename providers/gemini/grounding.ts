import type { UpstreamUsage } from '../../src/core/usage.js';
import { isRecord } from '../../src/lib/objects.js';
import { listIn, objectIn, type GeminiObject } from '../gemini-wire.js';
import { isGemini3 } from './model-family.js';

/** What the candidates of an answer were grounded in, so far. */
export interface Grounding {
  /** The searches of each candidate, which are told again with each event. */
  queries: Set<string>;
  has_maps: boolean;
}

export function newGrounding(): Grounding {
  return { queries: new Set(), has_maps: false };
}

/** Notes the grounding of a candidate. */
export function noteGrounding(candidate: GeminiObject, grounding: Grounding): void {
  if (candidate.groundingMetadata === undefined) return;
  const metadata = objectIn(candidate, 'groundingMetadata');
  const { webSearchQueries: queries } = metadata;
  for (const query of Array.isArray(queries) ? queries : []) {
    if (typeof query === 'string' && query !== '') {
      grounding.queries.add(JSON.stringify([candidate.index ?? 0, query]));
    }
  }
  grounding.has_maps ||= listIn(metadata, 'groundingChunks').some(({ maps }) => isRecord(maps));
}

/**
 * The calls of Google's own tools as it bills them: from Gemini 3 on each search, before that a
 * prompt with any. Undefined if there are none.
 */
export function groundingCalls(
  { queries: { size }, has_maps }: Grounding,
  model: string,
): UpstreamUsage['tool_calls'] {
  if (size === 0 && !has_maps) return undefined;
  const google_search = isGemini3(model) ? size : Math.min(size, 1);
  return { ...(size > 0 && { google_search }), ...(has_maps && { maps: 1 }) };
}
