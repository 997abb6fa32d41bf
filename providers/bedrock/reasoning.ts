import type { ReasoningDetail } from '../../src/modalities/chat/codec.js';
import { isRecord } from '../../src/lib/is-record.js';
import type { Block } from './content.js';
import type { Fields } from './fields.js';
import { reasoningFormat, type ModelKind } from './model.js';

/** The part of `max_tokens` that a model may think with, by the effort that is asked for. */
const BUDGETS: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ['minimal', 0],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', 0.9],
  ['max', 0.95],
]);
const LEAST_BUDGET = 1_024;
/** Where the call has no limit of its own. */
const UNLIMITED = 32_000;

/** What the model is told about its reasoning; undefined where it cannot be told so. */
export function reasoningFields(
  fields: Fields,
  max_tokens: number | undefined,
  kind: ModelKind,
): Record<string, unknown> | undefined {
  const { thinking, reasoning_effort: effort } = fields;
  const { family, version } = kind;
  if (isRecord(thinking)) {
    if (family !== 'claude' && family !== 'unknown') return undefined;
    return { ...reasoningFields({ reasoning_effort: effort }, max_tokens, kind), thinking };
  }
  if (effort === undefined || effort === null) return {};
  if (typeof effort !== 'string') return undefined;
  if (family === 'claude') return claudeThinking(effort, max_tokens ?? UNLIMITED, version);
  if (family === 'nova' && version >= 200) return novaReasoning(effort, max_tokens);
  if (family === 'gpt-oss' && effort !== 'none') {
    return { reasoning_effort: effort === 'minimal' ? 'low' : effort };
  }
  return undefined;
}

function claudeThinking(
  effort: string,
  max_tokens: number,
  version: number,
): Record<string, unknown> | undefined {
  if (version < 307) return effort === 'none' ? {} : undefined;
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (version >= 406) {
    const said = effort === 'minimal' ? 'low' : effort;
    const known = said === 'xhigh' && version < 407 ? 'high' : said;
    return { thinking: { type: 'adaptive' }, output_config: { effort: known } };
  }
  const part = BUDGETS.get(effort);
  // The budget is at least that, and less than max_tokens.
  if (part === undefined || max_tokens <= LEAST_BUDGET) return undefined;
  const budget_tokens = Math.max(LEAST_BUDGET, Math.floor(max_tokens * part));
  return { thinking: { type: 'enabled', budget_tokens } };
}

function novaReasoning(
  effort: string,
  max_tokens: number | undefined,
): Record<string, unknown> | undefined {
  if (effort === 'none') return { reasoningConfig: { type: 'disabled' } };
  const said = effort === 'minimal' ? 'low' : effort;
  // The highest effort goes with no limit of tokens only.
  const maxReasoningEffort = said === 'high' && max_tokens !== undefined ? 'medium' : said;
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort } };
}

/** Whether a model that was told so thinks before it answers. */
export function isThinking(reasoning: Record<string, unknown>): boolean {
  const { thinking } = reasoning;
  return isRecord(thinking) && (thinking['type'] === 'enabled' || thinking['type'] === 'adaptive');
}

/**
 * The blocks of an earlier answer's reasoning that the model demands back: signed or encrypted, and
 * in its own form. Unsigned reasoning would be refused.
 */
export function reasoningBlocks(
  details: readonly unknown[] | null | undefined,
  kind: ModelKind,
): Block[] {
  const own = reasoningFormat(kind);
  const blocks: Block[] = [];
  let text = '';
  let last: unknown;
  for (const detail of details ?? []) {
    if (!isRecord(detail) || detail['format'] !== own) continue;
    const { type, data, signature, index } = detail;
    if (index !== last) text = '';
    last = index;
    if (type === 'reasoning.encrypted' && typeof data === 'string' && data !== '') {
      blocks.push({ reasoningContent: { redactedContent: data } });
    } else if (type === 'reasoning.text') {
      // A client may bring the pieces of a stream as they came: the signature ends its text.
      text += typeof detail['text'] === 'string' ? detail['text'] : '';
      if (typeof signature !== 'string' || signature === '') continue;
      blocks.push({ reasoningContent: { reasoningText: { text, signature } } });
      text = '';
    }
  }
  return blocks;
}

/** The detail of a part of reasoning that has to come back; undefined where it need not. */
export function detailOf(
  { text, signature, redacted }: { text: string; signature?: unknown; redacted?: unknown },
  index: number,
  kind: ModelKind,
): ReasoningDetail | undefined {
  const format = reasoningFormat(kind);
  if (typeof redacted === 'string' && redacted !== '') {
    return { type: 'reasoning.encrypted', data: redacted, format, index };
  }
  if (typeof signature !== 'string' || signature === '') return undefined;
  return { type: 'reasoning.text', text, signature, format, index };
}
