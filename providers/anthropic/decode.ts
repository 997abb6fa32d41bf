import type { ChatCall, ChatChoice, ChatReply, ToolCall } from '../../src/modalities/chat/codec.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type { Upstream } from '../../src/core/model.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import { broken } from '../openai/answer.js';
import { contextOf } from './context.js';
import { outputTool } from './output.js';
import { detailOf } from './reasoning.js';
import { repeats, anthropicUsage } from './usage.js';
import type { ReasoningBlock } from './wire.js';

/** Stands between two thinking blocks, which are paragraphs of their own. */
export const BETWEEN_THOUGHTS = '\n\n';

/** Reads a whole answer. Throws `UpstreamError` for an error, or for a body that is no answer. */
export function decode(body: unknown, call: ChatCall, upstream: Upstream): ChatReply {
  if (!isRecord(body)) throw broken("The upstream's answer is not a JSON object.");
  if (body.type === 'error' || body.error) throw classifyErrorInside(body, upstream.provider);
  if (!Array.isArray(body.content)) throw broken('The upstream gave no answer.');
  const blocks = recordsIn(body.content);
  const decoded = decodeBlocks(blocks, outputTool(call, contextOf(upstream).model));
  const content = decoded.content || (refusalIn(body) ?? '');
  const choice: ChatChoice = {
    index: 0,
    content: content === '' && decoded.tool_calls ? null : content,
    ...(decoded.tool_calls && { tool_calls: decoded.tool_calls }),
    ...(decoded.reasoning && { reasoning_content: decoded.reasoning }),
    ...(decoded.thoughts.length > 0 && { reasoning_details: decoded.thoughts.map(detailOf) }),
    finish_reason: finishOf(body.stop_reason),
    ...metSequence(body),
  };
  return { choices: [choice], usage: anthropicUsage(body.usage, repeats(call, upstream)) };
}

interface DecodedBlocks {
  content: string;
  reasoning: string;
  thoughts: ReasoningBlock[];
  tool_calls?: ToolCall[];
}

/** Blocks of the upstream's own tools are no text and no call of the client's. */
function decodeBlocks(
  blocks: readonly Record<string, unknown>[],
  output_tool: string | undefined,
): DecodedBlocks {
  const decoded: DecodedBlocks = { content: '', reasoning: '', thoughts: [] };
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === 'text') decoded.content += textOfValue(block.text);
    else if (block.type === 'tool_use') {
      const call = toolCall(block);
      if (call.function.name === output_tool) decoded.content += call.function.arguments;
      else (decoded.tool_calls ??= []).push(call);
    } else {
      const thought = thoughtOf(block);
      if (thought) decoded.thoughts.push(thought);
      if (thought?.type === 'thinking' && thought.thinking !== '') texts.push(thought.thinking);
    }
  }
  decoded.reasoning = texts.join(BETWEEN_THOUGHTS);
  return decoded;
}

/** A thinking block, shown or not; undefined for other blocks. */
export function thoughtOf(block: Record<string, unknown>): ReasoningBlock | undefined {
  const { type, data } = block;
  if (type === 'redacted_thinking') return { type, data: textOfValue(data) };
  if (type !== 'thinking') return undefined;
  return {
    type,
    thinking: textOfValue(block.thinking),
    signature: textOfValue(block.signature),
  };
}

function toolCall({ id, name, input }: Record<string, unknown>): ToolCall {
  const args = JSON.stringify(isRecord(input) ? input : {});
  return {
    id: textOfValue(id),
    type: 'function',
    function: { name: textOfValue(name), arguments: args },
  };
}

/** The explanation of a refusal, which becomes the text of an answer without text. */
export function refusalIn({ stop_reason, stop_details }: Record<string, unknown>) {
  if (stop_reason !== 'refusal' || !isRecord(stop_details)) return undefined;
  return textOfValue(stop_details.explanation) || undefined;
}

/** The stop sequence at which the answer ended, if it was one. */
export function metSequence({ stop_sequence }: Record<string, unknown>) {
  return typeof stop_sequence === 'string' ? { stop_sequence } : {};
}

/** The finish reason of an answer; null if it states none. */
export function finishOf(stop_reason: unknown): string | null {
  if (stop_reason === 'model_context_window_exceeded') return 'length';
  return typeof stop_reason === 'string' ? stop_reason : null;
}

export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
