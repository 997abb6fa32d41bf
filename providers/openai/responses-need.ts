import type { Upstream } from '../../src/core/model.js';
import { toolPriceName } from '../../src/core/server-tools.js';
import { memoizeByObject, recordsIn } from '../../src/lib/objects.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { effortsOf } from './efforts.js';
import { isListed } from './model-prefixes.js';
import { openAiModel, type OpenAiModel } from './models.js';
import { doesReason } from './reasoning.js';
import { reasoningFormat } from './responses-input.js';

/** `gpt-5.4-pro`, `gpt-5.3-codex`, `o3-pro-2025-06-10`, `codex-mini-latest`. */
const ALONE = /^codex-|-(?:pro|codex|deep-research)(?:-|$)/u;

/** The least output limit that the Responses API takes. */
export const LEAST_TOKENS = 16;

/** The rules of a model that the Responses API serves, for calls there. */
interface Served {
  /** Chat completions do not serve the model at all. */
  is_alone: boolean;
  rules: OpenAiModel;
}

const ALWAYS_REASONS: OpenAiModel = {
  reasons: 'always',
  stop: false,
  parallel: true,
  verbosity: true,
  with_tools: 'any',
};

/** Null for a model that chat completions serve with all fields, or if the wire has no flag. */
export const servedByResponses = memoizeByObject((upstream: Upstream): Served | null => {
  const { model, provider } = upstream;
  if (provider.wire.responses !== true) return null;
  const known = openAiModel(model);
  const is_alone = ALONE.test(model);
  if (!is_alone && (!known || known.with_tools === 'any')) return null;
  const rules = { ...ALWAYS_REASONS, ...known, stop: false, with_tools: 'any' } as const;
  if (!is_alone) return { is_alone, rules };
  // The efforts of its namesake count only if the manifest lists none.
  const { efforts, ...others } = rules;
  const hasList = effortsOf(upstream) !== null;
  return { is_alone, rules: { ...others, ...(!hasList && { efforts }), reasons: 'always' } };
});

/** Whose compactions the upstream reads and writes; undefined if it does neither. */
export function compactionFormat(upstream: Upstream): string | undefined {
  const { provider } = upstream;
  return isListed(upstream, provider.wire.compaction) ? reasoningFormat(provider) : undefined;
}

/** The tools that OpenAI runs itself, which chat completions refuse. */
const HOSTED: ReadonlySet<string> = new Set([
  'web_search',
  'file_search',
  'code_interpreter',
  'image_generation',
]);

/** Whether a call offers a tool that only the Responses API runs, and that has a price. */
export function searchesByResponses(
  { fields, n, max_tool_calls }: ChatCall,
  { provider, price }: Upstream,
): boolean {
  if (max_tool_calls === undefined || provider.wire.responses !== true || n > 1) return false;
  return recordsIn(fields.tools).some(({ type }) => {
    const name = toolPriceName(String(type));
    return HOSTED.has(name) && price.per_tool_call?.has(name) === true;
  });
}

/**
 * Whether a call to a model that the Responses API serves goes there: chat completions do not serve
 * the model, or refuse to let it reason with tools. A call that the Responses API cannot express
 * stays where it is.
 */
export function needsResponses(call: ChatCall, upstream: Upstream, served: Served): boolean {
  if (served.is_alone) return true;
  const { fields, n, max_tokens = LEAST_TOKENS } = call;
  if (fields.tools === undefined || fields.stop !== undefined) return false;
  if (n > 1 || max_tokens < LEAST_TOKENS) return false;
  const { set, drop } = upstream;
  const asked = drop.includes('reasoning_effort') ? undefined : fields.reasoning_effort;
  return doesReason(set.reasoning_effort ?? asked, served.rules);
}
