import type { ChatMessage, ContentPart } from '../../../schema-types/chat-completion.js';
import { checkImageUrl } from '../../../upstream/client-url.js';

/**
 * Messages in their usual spelling. Some clients send the address of an image as a text, as Mistral
 * takes it, or an empty list of tool calls. Nothing is copied without need. Throws `GatewayError`
 * for a text that is no address of an image.
 */
export function usualMessages(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (messages.every(isUsual)) return messages;
  return messages.map((message, index) => (isUsual(message) ? message : usual(message, index)));
}

function isUsual({ content, tool_calls }: ChatMessage): boolean {
  return tool_calls?.length !== 0 && !(Array.isArray(content) && content.some(hasTextForUrl));
}

function hasTextForUrl(part: ContentPart): boolean {
  return part.type === 'image_url' && typeof (part.image_url as unknown) === 'string';
}

function usual(message: ChatMessage, index: number): ChatMessage {
  const { tool_calls, ...rest } = message;
  const { content } = message;
  return {
    ...rest,
    ...(tool_calls && tool_calls.length > 0 && { tool_calls }),
    ...(Array.isArray(content) && {
      content: content.map((part, at) =>
        hasTextForUrl(part) ? imagePart(part, `messages[${index}].content[${at}].image_url`) : part,
      ),
    }),
  };
}

function imagePart(part: ContentPart, place: string): ContentPart {
  const url = String((part as { image_url: unknown }).image_url);
  checkImageUrl(url, place);
  return { ...part, type: 'image_url', image_url: { url } };
}
