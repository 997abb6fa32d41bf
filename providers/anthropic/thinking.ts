import { isRecord } from '../../src/lib/objects.js';
import type { EncodeContext } from './context.js';
import type { ClaudeModel } from './models.js';
import type { Display, Effort, Thinking } from './wire.js';

type RequestFields = Readonly<Record<string, unknown>>;

/** How much a model thinks: the field `thinking`, and the effort beside it; absent if unasked. */
export interface Reasoning {
  thinking?: Thinking;
  effort?: Effort;
}

const TYPES: ReadonlySet<unknown> = new Set(['enabled', 'adaptive', 'between_tools', 'disabled']);
const DISPLAYS = ['summarized', 'omitted'] as const;
/** The least budget that the API takes. */
const MIN_BUDGET = 1_024;
/** More brings little. */
const MAX_BUDGET = 32_000;
/** The part of the output that each level of effort may think for, where budgets are asked for. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};
const DEFAULT_SHARE = 0.5;
const LEVELS: Readonly<Record<string, Effort>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

/**
 * The thinking that the client requests, by the API's field `thinking` or by `reasoning_effort`. A
 * value that the model does not have is reported as ignored. `has_effort` says that the effort is
 * the API's own, which does not ask for thinking.
 */
export function reasoningOf(
  fields: RequestFields,
  max_tokens: number,
  context: EncodeContext,
  has_effort: boolean,
): Reasoning {
  const level = levelOf(fields.reasoning_effort, context);
  const { thinking } = fields;
  if (isRecord(thinking) && TYPES.has(thinking.type)) {
    return byThinking(thinking, level, max_tokens, context);
  }
  if (thinking !== undefined) context.ignored.add('thinking');
  if (level === undefined) return {};
  if (level === 'none') return thinkingOff('reasoning_effort', context);
  if (has_effort) {
    if (context.model.effort === 'none') context.ignored.add('reasoning_effort');
    return effortOf(level, context);
  }
  const wanted = thinkingConfig(level, {}, max_tokens, context.model);
  if (!wanted) context.ignored.add('reasoning_effort');
  return { ...wanted, ...(wanted?.thinking.type === 'adaptive' && effortOf(level, context)) };
}

function byThinking(
  { type, budget_tokens, display }: RequestFields,
  level: string | undefined,
  max_tokens: number,
  context: EncodeContext,
): Reasoning {
  const effort = effortOf(level, context);
  if (type === 'disabled') {
    const off = thinkingOff('thinking', context);
    // Without thinking, models refuse the levels above.
    const isAbove = effort.effort === 'xhigh' || effort.effort === 'max';
    return { ...(off.thinking && isAbove ? { effort: 'high' } : effort), ...off };
  }
  if (type === 'between_tools') {
    if (context.model.thinking === 'adaptive') return { thinking: { type }, ...effort };
    context.ignored.add('thinking');
    return effort;
  }
  const wanted = thinkingConfig(level, { budget_tokens, display }, max_tokens, context.model);
  if (!wanted) context.ignored.add('thinking');
  else if (budget_tokens !== undefined && wanted.thinking.type === 'adaptive') {
    context.ignored.add('thinking.budget_tokens');
  }
  return { ...wanted, ...effort };
}

function levelOf(effort: unknown, { ignored }: EncodeContext): string | undefined {
  if (effort === undefined) return undefined;
  if (typeof effort === 'string' && (effort === 'none' || Object.hasOwn(LEVELS, effort))) {
    return effort;
  }
  ignored.add('reasoning_effort');
  return undefined;
}

/** Undefined where the model does not think, or the answer has no room for it. */
function thinkingConfig(
  level: string | undefined,
  { budget_tokens: budget, display }: { budget_tokens?: unknown; display?: unknown },
  max_tokens: number,
  model: ClaudeModel,
): { thinking: Thinking } | undefined {
  const shown: Display | undefined = DISPLAYS.find((one) => one === display);
  if (model.thinking === 'none') return undefined;
  const isBudget = model.thinking === 'budget' || typeof budget === 'number';
  if (model.thinking === 'adaptive' || !isBudget) {
    return { thinking: { type: 'adaptive', display: shown ?? 'summarized' } };
  }
  const share = SHARES[level ?? ''] ?? DEFAULT_SHARE;
  const wanted = typeof budget === 'number' ? budget : Math.min(MAX_BUDGET, max_tokens * share);
  const budget_tokens = Math.min(max_tokens - 1, Math.max(MIN_BUDGET, Math.floor(wanted)));
  if (budget_tokens < MIN_BUDGET) return undefined;
  return { thinking: { type: 'enabled', budget_tokens, ...(shown && { display: shown }) } };
}

/** Off, or as near to it as the model comes. */
function thinkingOff(field: string, { model, ignored }: EncodeContext): Reasoning {
  switch (model.thinking_off) {
    case 'unasked':
      return {};
    case 'disabled':
      return { thinking: { type: 'disabled' } };
    case 'between_tools':
      ignored.add(field);
      return { thinking: { type: 'between_tools' } };
    case 'never':
      ignored.add(field);
      return { effort: 'low' };
  }
}

function effortOf(level: string | undefined, { model }: EncodeContext): { effort?: Effort } {
  const effort = level === undefined ? undefined : LEVELS[level];
  if (effort === undefined || model.effort === 'none') return {};
  return { effort: effort === 'xhigh' && model.effort === 'to-max' ? 'max' : effort };
}
