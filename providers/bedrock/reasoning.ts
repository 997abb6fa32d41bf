import { detailOf, reasoningBlocks as claudeBlocks } from '../anthropic/reasoning.js';
import { reasoningOf as claudeReasoning } from '../anthropic/thinking.js';
import type { ChatCall, ReasoningDetail } from '../../src/modalities/chat/codec.js';
import { isRecord } from '../../src/lib/objects.js';
import type { Block } from './content.js';
import type { RequestFields } from './fields.js';
import type { Target } from './model.js';

/** The fields of the model that control its reasoning. */
export type Reasoning = Readonly<Record<string, unknown>>;

/** The limit of a call without a limit. */
const UNLIMITED = 32_000;

/**
 * The reasoning that the client requests, by Claude's field `thinking` or by `reasoning_effort`. A
 * value that the model does not have is reported as ignored.
 */
export function reasoningOf(
  { max_tokens, original }: Pick<ChatCall, 'max_tokens' | 'original'>,
  fields: RequestFields,
  target: Target,
): Reasoning {
  const { family, ignored } = target;
  const { thinking, reasoning_effort: level } = fields;
  if (family === 'claude') {
    const has_effort = original?.effort !== undefined;
    const limit = max_tokens ?? UNLIMITED;
    const { effort, ...asked } = claudeReasoning(fields, limit, target, has_effort);
    return { ...asked, ...(effort && { output_config: { effort } }) };
  }
  const isTold = family === 'profile' && isRecord(thinking);
  if (thinking !== undefined && !isTold) ignored.add('thinking');
  const effort = typeof level === 'string' ? effortOf(level, max_tokens, family) : undefined;
  if (level !== undefined && !effort) ignored.add('reasoning_effort');
  return { ...(isTold && { thinking }), ...effort };
}

function effortOf(
  level: string,
  max_tokens: number | undefined,
  family: Target['family'],
): Reasoning | undefined {
  const effort_level = level === 'minimal' ? 'low' : level;
  if (family === 'gpt-oss')
    return effort_level === 'none' ? undefined : { reasoning_effort: effort_level };
  if (family !== 'nova-2') return undefined;
  if (effort_level === 'none') return { reasoningConfig: { type: 'disabled' } };
  // The highest effort goes with no limit of tokens only.
  const maxReasoningEffort =
    effort_level === 'high' && max_tokens !== undefined ? 'medium' : effort_level;
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort } };
}

/** Whether Claude is to think before it answers. */
export function isThinking({ thinking }: Reasoning): boolean {
  return isRecord(thinking) && (thinking.type === 'enabled' || thinking.type === 'adaptive');
}

/** The blocks of Claude's earlier reasoning, signed or hidden, that a client has brought back. */
export function reasoningBlocks(details: readonly unknown[] | null | undefined): Block[] {
  return claudeBlocks(details).map((block) => ({
    reasoningContent:
      block.type === 'thinking'
        ? { reasoningText: { text: block.thinking, signature: block.signature } }
        : { redactedContent: block.data },
  }));
}

/** The reasoning of an earlier answer that must be sent back: only signed parts. */
export function detailsOf(
  { text, signature, redacted }: { text: string; signature?: unknown; redacted?: unknown },
  index: number,
  { family }: Target,
): ReasoningDetail[] {
  if (family !== 'claude' && family !== 'profile') return [];
  if (typeof redacted === 'string' && redacted !== '') {
    return [detailOf({ type: 'redacted_thinking', data: redacted }, index)];
  }
  if (typeof signature !== 'string' || signature === '') return [];
  return [detailOf({ type: 'thinking', thinking: text, signature }, index)];
}
