import type {
  Annotation,
  ChatCall,
  ChatChoice,
  ChatDelta,
  ChatReply,
  HostedPart,
  ToolCall,
} from '../../src/modalities/chat/codec.js';
import { isServerToolBlock } from '../../src/core/block-fields.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type { Upstream } from '../../src/core/model.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import { broken, textOfValue } from '../openai/answer.js';
import { contextOf } from './context.js';
import { outputTool } from './output.js';
import { detailOf } from './reasoning.js';
import { repeats, anthropicUsage } from './usage.js';
import type { ReasoningBlock } from './wire.js';

/** Stands between two thinking blocks, which are paragraphs of their own. */
export const BETWEEN_THOUGHTS = '\n\n';

/** The first text of a thought that is not the first one. */
export function nextThought(text: string): Pick<ChatDelta, 'reasoning_content' | 'parted_by'> {
  return { reasoning_content: BETWEEN_THOUGHTS + text, parted_by: BETWEEN_THOUGHTS.length };
}

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
    ...(decoded.hosted.length > 0 && { hosted_parts: decoded.hosted }),
    ...(decoded.annotations.length > 0 && { annotations: decoded.annotations }),
    finish_reason: finishOf(body.stop_reason),
    ...metSequence(body),
  };
  return { choices: [choice], usage: anthropicUsage(body.usage, repeats(call, upstream)) };
}

interface DecodedBlocks {
  content: string;
  reasoning: string;
  thoughts: ReasoningBlock[];
  hosted: HostedPart[];
  annotations: Annotation[];
  tool_calls?: ToolCall[];
}

function decodeBlocks(
  blocks: readonly Record<string, unknown>[],
  output_tool: string | undefined,
): DecodedBlocks {
  const lists = { thoughts: [], hosted: [], annotations: [] };
  const decoded: DecodedBlocks = { content: '', reasoning: '', ...lists };
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === 'text') {
      const start = decoded.content.length;
      decoded.content += textOfValue(block.text);
      decoded.annotations.push(...citedIn(block.citations, start, decoded.content.length));
    } else if (isServerToolBlock(block)) {
      const [at, after] = [decoded.content.length, decoded.thoughts.length];
      decoded.hosted.push({ api: 'messages', part: block, at, after });
    } else if (block.type === 'tool_use') {
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

/** The web pages that a piece of the text names as its sources. */
export function citedIn(citations: unknown, start_index: number, end_index: number): Annotation[] {
  return recordsIn(citations).flatMap(({ url, title }): Annotation[] => {
    if (typeof url !== 'string') return [];
    const cited = { url, title: textOfValue(title), start_index, end_index };
    return [{ type: 'url_citation', url_citation: cited }];
  });
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
