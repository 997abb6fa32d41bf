import { isRecord } from '../../src/lib/objects.js';
import type { GeminiObject } from '../gemini-wire.js';
import { canThink, isGemini3, isPro } from './model-family.js';

/** The thinking that a client requests. */
interface Wanted {
  effort?: string;
  /** Tokens. */
  budget?: number;
  isShown: boolean;
}

/** The fields by which clients request thinking. The first one with a value counts. */
const FIELDS = ['thinking', 'reasoning', 'reasoning_effort'] as const;

export const THINKING_FIELDS: readonly string[] = FIELDS;

const LEVELS: ReadonlyMap<string, string> = new Map([
  ['none', 'MINIMAL'],
  ['minimal', 'MINIMAL'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
  ['xhigh', 'HIGH'],
  ['max', 'HIGH'],
]);

const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 512],
  ['low', 1_024],
  ['medium', 8_192],
  ['high', 24_576],
  ['xhigh', 24_576],
  ['max', 24_576],
]);

/** Tokens of thinking that the models of 2.5 take, beside 0 where they can do without. */
const PRO_BUDGET = { least: 128, most: 32_768 };
const LITE_BUDGET = { least: 512, most: 24_576 };
const FLASH_BUDGET = { least: 1, most: 24_576 };

/**
 * `thinkingConfig`; undefined if the client requests none. It includes thoughts only if the client
 * wants reasoning. Thoughts count as output, so no budget exceeds `max_tokens`.
 */
export function thinkingOf(
  fields: Readonly<Record<string, unknown>>,
  model: string,
  ignored: Set<string>,
): GeminiObject | undefined {
  const asking = FIELDS.filter((name) => fields[name] !== undefined && fields[name] !== null);
  const [asked, ...others] = asking;
  if (asked === undefined) return undefined;
  for (const name of others) ignored.add(name);
  const wanted = wantedBy(asked, fields[asked]);
  if (!wanted || !canThink(model)) {
    ignored.add(asked);
    return undefined;
  }
  const config = { ...amountOf(wanted, model), ...(wanted.isShown && { includeThoughts: true }) };
  return Object.keys(config).length > 0 ? config : undefined;
}

function wantedBy(name: (typeof FIELDS)[number], value: unknown): Wanted | undefined {
  if (name === 'reasoning_effort') return withEffort(value);
  if (!isRecord(value)) return undefined;
  return name === 'thinking' ? byThinking(value) : byReasoning(value);
}

function withEffort(effort: unknown): Wanted | undefined {
  if (typeof effort !== 'string' || !LEVELS.has(effort)) return undefined;
  return { effort, isShown: effort !== 'none' };
}

/** As Anthropic's clients ask. */
function byThinking({ type, budget_tokens }: GeminiObject): Wanted | undefined {
  if (type === 'disabled') return withEffort('none');
  if (type === 'adaptive') return { isShown: true };
  if (type !== 'enabled') return undefined;
  return isBudget(budget_tokens) ? { budget: budget_tokens, isShown: true } : { isShown: true };
}

/** As OpenRouter's and OpenAI's clients ask. */
function byReasoning({ effort, max_tokens, enabled, exclude }: GeminiObject): Wanted | undefined {
  if (enabled === false) return withEffort('none');
  const byEffort = effort === undefined || effort === null ? { isShown: true } : withEffort(effort);
  const wanted = isBudget(max_tokens) ? { budget: max_tokens, isShown: true } : byEffort;
  return wanted && exclude === true ? { ...wanted, isShown: false } : wanted;
}

function isBudget(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= -1;
}

function amountOf({ effort, budget }: Wanted, model: string): GeminiObject {
  if (isGemini3(model)) {
    if (budget !== undefined) return { thinkingBudget: budget };
    const level = effort === undefined ? undefined : LEVELS.get(effort);
    if (level === undefined) return {};
    return { thinkingLevel: level === 'MINIMAL' && isPro(model) ? 'LOW' : level };
  }
  const tokens = budget ?? (effort === undefined ? undefined : BUDGETS.get(effort));
  return tokens === undefined ? {} : { thinkingBudget: withinRange(tokens, model) };
}

/** -1 leaves the amount to the model. */
function withinRange(tokens: number, model: string): number {
  const { least, most } = isPro(model)
    ? PRO_BUDGET
    : model.includes('-lite')
      ? LITE_BUDGET
      : FLASH_BUDGET;
  if (tokens === -1 || (tokens === 0 && !isPro(model))) return tokens;
  return Math.min(most, Math.max(least, tokens));
}
