import type { ReasoningDetail } from '../../src/modalities/chat/codec.js';
import type { ChatMessage } from '../../src/schema-types/chat-completion.js';
import { recordsIn, textOf } from './answer.js';

const TYPES = ['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'] as const;
const TEXTS = ['text', 'summary', 'data', 'signature', 'id', 'format'] as const;

/** The reasoning details of a message or delta, without what their form does not know. */
export function detailsIn(value: unknown): ReasoningDetail[] {
  return recordsIn(value).flatMap((said) => {
    const type = TYPES.find((one) => one === said['type']);
    if (type === undefined) return [];
    const detail: ReasoningDetail = { type };
    for (const name of TEXTS) {
      const text = said[name];
      if (typeof text === 'string') detail[name] = text;
    }
    const { index } = said;
    if (typeof index === 'number') detail.index = index;
    return [detail];
  });
}

/** The text that reasoning details hold, summaries where there is nothing else. */
export function detailText(details: readonly ReasoningDetail[]): string {
  return details.map(({ text, summary }) => text || summary || '').join('');
}

/**
 * What of an earlier answer's reasoning goes back to an upstream, by the flag `reasoning_back`:
 * fields that are added to the message. `content` is the message's content as it goes out.
 */
export function reasoningBack(
  message: ChatMessage,
  content: ChatMessage['content'],
  field: unknown,
): object {
  if (field === undefined) return {};
  const { reasoning_details: given, tool_calls } = message;
  if (field === 'reasoning_details') return given?.length ? { reasoning_details: given } : {};
  const text = textOf(message.reasoning_content) || detailText(detailsIn(given));
  // Where the text is demanded with tool calls, a space stands for one that nobody has.
  if (field === 'tool_reasoning_content') {
    return tool_calls?.length ? { reasoning_content: text || ' ' } : {};
  }
  if (text === '') return {};
  if (field === 'reasoning_content' || field === 'reasoning') return { [field]: text };
  if (field !== 'think_tags' || Array.isArray(content)) return {};
  return { content: `<think>${text}</think>\n\n${content ?? ''}` };
}
