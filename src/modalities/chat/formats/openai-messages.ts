import { GatewayError } from '../../../core/errors.js';
import type {
  ChatMessage,
  ContentPart,
  ToolCallPart,
} from '../../../schema-types/chat-completion.js';
import { noteExtras } from '../../../http/request-body.js';
import type { Capability } from '../../../core/model.js';
import type { PromptSize } from '../call.js';
import { marked, readPart, type Reading } from './openai-parts.js';

const PLAIN_KEYS = ['role', 'content', 'name', 'cache_control'];
const CALL_KEYS = new Set(['id', 'type', 'function']);
const TOOL_KEYS = ['tool_calls', 'tool_call_id'];
/** What an assistant's message may have beside the others. */
const STATE_KEYS = ['reasoning_content', 'reasoning_details'];
/** What a message may carry, by whether its model takes tools and whether it is the assistant's. */
const KEYS = {
  plain: new Set(PLAIN_KEYS),
  plain_assistant: new Set([...PLAIN_KEYS, ...STATE_KEYS]),
  tools: new Set([...PLAIN_KEYS, ...TOOL_KEYS]),
  tools_assistant: new Set([...PLAIN_KEYS, ...TOOL_KEYS, ...STATE_KEYS]),
};
/** Parts of an answer's reasoning; the longest answers known have far fewer. */
const MAX_DETAILS = 1_000;
/** What the files of one request may unfold to while their pages are counted. */
const UNFOLDED_BYTES = 8 * 1024 * 1024;
/** Levels of objects and lists in a field that is sent on as it is. */
const NESTING = 200;

/**
 * Checks messages against what a model can take, drops what the contract does not name, and
 * measures the prompt, in one pass. Throws `GatewayError` naming the message or part at fault.
 */
export function readMessages(
  messages: readonly ChatMessage[],
  capabilities: ReadonlySet<Capability>,
  ignored: Set<string>,
): { messages: readonly ChatMessage[]; size: PromptSize } {
  const size: PromptSize = {
    text_bytes: 0,
    messages: messages.length,
    images: 0,
    urls: 0,
    pages: 0,
    audio_bytes: 0,
  };
  const unfolding = { bytes: UNFOLDED_BYTES };
  const reading: Reading = { capabilities, ignored, size, unfolding };
  const read = messages.map((message, index) => {
    const { content } = message;
    if (typeof content === 'string') size.text_bytes += Buffer.byteLength(content);
    return isPlain(message) ? message : readMessage(message, `messages[${index}]`, reading);
  });
  return { messages: read, size };
}

/** Whether a message is a role and a text, and goes out as it came. */
function isPlain(message: ChatMessage): boolean {
  const { role, content } = message;
  if (typeof content !== 'string' || role === 'tool' || role === 'developer') return false;
  for (const name in message) if (name !== 'role' && name !== 'content') return false;
  return true;
}

function readMessage(message: ChatMessage, at: string, reading: Reading): ChatMessage {
  refuseLegacy(message.function_call, `${at}.function_call`);
  gateMessage(message, at, reading);
  const { role, content } = message;
  const read: ChatMessage = {
    role: role === 'developer' ? 'system' : role,
    content: typeof content === 'string' ? content : readParts(content, at, reading),
  };
  const { size, capabilities, ignored } = reading;
  const tools = capabilities.has('tools');
  const kind = role === 'assistant' ? '_assistant' : '';
  noteExtras(message, KEYS[`${tools ? 'tools' : 'plain'}${kind}`], 'messages[]', ignored);
  if (message.name !== undefined) read.name = measured(message.name, size);
  if (tools && message.tool_calls) {
    read.tool_calls = message.tool_calls.map((call) => cleanCall(call, ignored));
    size.text_bytes += Buffer.byteLength(JSON.stringify(read.tool_calls));
  }
  if (tools && message.tool_call_id !== undefined) {
    read.tool_call_id = measured(message.tool_call_id, size);
  }
  if (message.cache_control) Object.assign(read, marked(message.cache_control));
  if (role === 'assistant') readReasoning(message, read, at, size);
  return read;
}

/** The state of an earlier turn, which its upstream may demand back. */
function readReasoning(
  { reasoning_content, reasoning_details }: ChatMessage,
  read: ChatMessage,
  at: string,
  size: PromptSize,
): void {
  if (reasoning_content) read.reasoning_content = measured(reasoning_content, size);
  if (!reasoning_details?.length) return;
  const param = `${at}.reasoning_details`;
  if (reasoning_details.length > MAX_DETAILS) {
    const message = `${param} must have at most ${MAX_DETAILS} entries.`;
    throw new GatewayError('invalid_request', message, { param });
  }
  refuseDeep(param, reasoning_details);
  read.reasoning_details = reasoning_details;
  size.text_bytes += Buffer.byteLength(JSON.stringify(reasoning_details));
}

function gateMessage(message: ChatMessage, at: string, { capabilities }: Reading): void {
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
  reading: Reading,
): ContentPart[] | null {
  if (!parts) return null;
  return parts.map((part, index) => readPart(part, `${at}.content[${index}]`, reading));
}

function cleanCall(call: ToolCallPart, ignored: Set<string>): ToolCallPart {
  const { id, type, function: asked } = call;
  noteExtras(call, CALL_KEYS, 'messages[].tool_calls[]', ignored);
  return { id, type, function: { name: asked.name, arguments: asked.arguments } };
}

/** Throws `GatewayError` for a field of the older way to offer functions, unless it is null. */
export function refuseLegacy(value: unknown, param: string): void {
  if (value === null || value === undefined) return;
  throw new GatewayError(
    'invalid_request',
    `${param} is not taken here: send tools, tool_choice and tool_calls instead.`,
    { param },
  );
}

/** A value that no one could write down again must not come as far as the wire. */
export function refuseDeep(param: string, value: unknown): void {
  if (!isDeeper(value, NESTING)) return;
  const message = `${param} must not be nested more than ${NESTING} levels deep.`;
  throw new GatewayError('invalid_request', message, { param });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
