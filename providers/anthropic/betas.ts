import type { ChatCall } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';

/** The name of the header in which features are asked for. */
export const BETAS = 'anthropic-beta';

/**
 * Features that raise the price of the same tokens, run another model, or need what the upstream
 * keeps for an account. Their fields are left out as well: either half alone is refused.
 */
const LEFT_OUT = new RegExp(
  `^(?:${[
    'context-1m',
    'fast-mode',
    'compact',
    'mcp-client',
    'files-api',
    'skills',
    'managed-agents',
    'message-batches',
  ].join('|')})-`,
  'u',
);

/**
 * The reviews of tool calls that coding agents ask for. Clouds serve them too; without them an
 * agent asks a model of its own for each call, which costs.
 */
export const SAFEGUARDS = {
  beta: 'dangerous-tool-use-2026-09-03',
  field: 'safeguards',
  results: 'safeguard_results',
} as const;

/** The features that a wire takes: all, or those that its cloud is known to take. */
export type TakenBetas = 'all' | ReadonlySet<string>;

const ALL_CLOUDS = [
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18',
];

/** Clouds refuse a request for a feature that they do not know. */
export const VERTEX_BETAS: TakenBetas = new Set([
  ...ALL_CLOUDS,
  SAFEGUARDS.beta,
  'interleaved-thinking-2025-05-14',
  'per-turn-control-2026-07-01',
]);
export const CONVERSE_BETAS: TakenBetas = new Set([
  ...ALL_CLOUDS,
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
]);
export const INVOKE_BETAS: TakenBetas = new Set([
  ...CONVERSE_BETAS,
  SAFEGUARDS.beta,
  'mid-conversation-output-config-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01',
]);

/** The features to ask for: the client's, unless the operator has set a list. */
export function betasOfCall(
  { original }: ChatCall,
  { provider, set }: Upstream,
  taken: TakenBetas,
): { betas: string[]; ignored: string[] } {
  const requested = original?.betas ?? [];
  const isChosen =
    'anthropic_beta' in set ||
    Object.keys(provider.headers).some((name) => name.toLowerCase() === BETAS);
  const allowed = isChosen ? [] : requested.filter((name) => !LEFT_OUT.test(name));
  return {
    betas: taken === 'all' ? allowed : allowed.filter((name) => taken.has(name)),
    ignored: allowed.length < requested.length ? [BETAS] : [],
  };
}
