import { GatewayError } from '../../../core/errors.js';
import type {
  ChatMessage,
  ContentPart,
  ToolCallPart,
} from '../../../schema-types/chat-completion.js';
import { checkImageUrl, isHttp } from '../../../upstream/client-url.js';
import { noteExtras } from '../../../http/request-body.js';
import { refuseLegacy } from './openai-tools.js';
import type { Capability } from '../../../core/model.js';
import type { PromptSize } from '../call.js';

type Capabilities = ReadonlySet<Capability>;

const PLAIN_KEYS = new Set(['role', 'content', 'name']);
const IMAGE_KEYS = new Set(['url']);
const CALL_KEYS = new Set(['id', 'type', 'function']);
const TOOL_KEYS = new Set([...PLAIN_KEYS, 'tool_calls', 'tool_call_id']);

/**
 * Checks messages against what a model can take, drops what the contract does not name, and
 * measures the prompt, in one pass. Throws `GatewayError` naming the message or part at fault.
 */
export function readMessages(
  messages: readonly ChatMessage[],
  capabilities: Capabilities,
  ignored: Set<string>,
): { messages: readonly ChatMessage[]; size: PromptSize } {
  const size: PromptSize = {
    text_bytes: 0,
    messages: messages.length,
    images: 0,
    urls: 0,
    audio_bytes: 0,
  };
  const read = messages.map((message, index) => {
    const at = `messages[${index}]`;
    refuseLegacy(message.function_call, `${at}.function_call`);
    gateMessage(message, at, capabilities);
    const content =
      typeof message.content === 'string'
        ? measured(message.content, size)
        : readParts(message.content, at, capabilities, ignored, size);
    return clean(message, content, capabilities, ignored, size);
  });
  return { messages: read, size };
}

function gateMessage(message: ChatMessage, at: string, capabilities: Capabilities): void {
  if (capabilities.has('tools')) return;
  if (message.role === 'tool') {
    throw new GatewayError(
      'unsupported_capability',
      `${at}.role must be system, user or assistant: this model does not take tools.`,
      { param: `${at}.role` },
    );
  }
  if (message.content === null || message.content === undefined) {
    throw new GatewayError(
      'invalid_request',
      `${at}.content must be a string or an array of content parts.`,
      { param: `${at}.content` },
    );
  }
}

function measured(text: string, size: PromptSize): string {
  size.text_bytes += Buffer.byteLength(text);
  return text;
}

function readParts(
  parts: readonly ContentPart[] | null | undefined,
  at: string,
  capabilities: Capabilities,
  ignored: Set<string>,
  size: PromptSize,
): ContentPart[] | null {
  if (!parts) return null;
  return parts.map((part, index) => {
    const place = `${at}.content[${index}]`;
    switch (part.type) {
      case 'text':
        return { type: 'text', text: measured(part.text, size) };
      case 'image_url':
        gatePart(capabilities, 'vision', place, 'images');
        checkImageUrl(part.image_url.url, `${place}.image_url.url`);
        size.images += 1;
        if (isHttp(part.image_url.url)) size.urls += 1;
        noteExtras(part.image_url, IMAGE_KEYS, 'messages[].content[].image_url', ignored);
        return { type: 'image_url', image_url: { url: part.image_url.url } };
      case 'input_audio': {
        gatePart(capabilities, 'audio', place, 'audio');
        const { data, format } = part.input_audio;
        size.audio_bytes += data.length;
        return { type: 'input_audio', input_audio: { data, format } };
      }
      case 'file': {
        gatePart(capabilities, 'file', place, 'files');
        size.text_bytes += Buffer.byteLength(JSON.stringify(part.file));
        return { type: 'file', file: part.file };
      }
    }
  });
}

function gatePart(
  capabilities: Capabilities,
  needed: Capability,
  param: string,
  what: string,
): void {
  if (capabilities.has(needed)) return;
  throw new GatewayError('unsupported_capability', `${param}: this model does not take ${what}.`, {
    param,
  });
}

function clean(
  message: ChatMessage,
  content: string | ContentPart[] | null,
  capabilities: Capabilities,
  ignored: Set<string>,
  size: PromptSize,
): ChatMessage {
  const tools = capabilities.has('tools');
  noteExtras(message, tools ? TOOL_KEYS : PLAIN_KEYS, 'messages[]', ignored);
  const cleaned: ChatMessage = {
    role: message.role === 'developer' ? 'system' : message.role,
    content,
  };
  if (message.name !== undefined) cleaned.name = measured(message.name, size);
  if (tools && message.tool_calls) {
    cleaned.tool_calls = message.tool_calls.map((call) => cleanCall(call, ignored));
    size.text_bytes += Buffer.byteLength(JSON.stringify(cleaned.tool_calls));
  }
  if (tools && message.tool_call_id !== undefined) {
    cleaned.tool_call_id = measured(message.tool_call_id, size);
  }
  return cleaned;
}

function cleanCall(call: ToolCallPart, ignored: Set<string>): ToolCallPart {
  const { id, type, function: asked } = call;
  noteExtras(call, CALL_KEYS, 'messages[].tool_calls[]', ignored);
  return { id, type, function: { name: asked.name, arguments: asked.arguments } };
}
