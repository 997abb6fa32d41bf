import { plainId } from '../../src/lib/tool-id.js';
import { RESULT_FOLLOWS, resultHeading } from '../../src/lib/tool-media.js';
import type { ChatMessage, ContentPart } from '../../src/schema-types/chat-completion.js';

/** The images and other media of tool results, for the user message behind the results. */
export class ToolMedia {
  #parts: ContentPart[] = [];

  /** Takes the media out of the content of a result, of which this wire accepts only the text. */
  takeFrom(
    content: ChatMessage['content'],
    { tool_call_id = '' }: ChatMessage,
  ): ChatMessage['content'] {
    if (!Array.isArray(content)) return content;
    const texts = content.filter(({ type }) => type === 'text');
    if (texts.length === content.length) return content;
    const heading: ContentPart = { type: 'text', text: resultHeading(plainId(tool_call_id)) };
    this.#parts.push(heading, ...content.filter(({ type }) => type !== 'text'));
    return texts.length > 0 ? texts : RESULT_FOLLOWS;
  }

  /** The message with the media taken since the last call; none if there were none. */
  messages(): object[] {
    if (this.#parts.length === 0) return [];
    const content = this.#parts;
    this.#parts = [];
    return [{ role: 'user', content }];
  }
}
