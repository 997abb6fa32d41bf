import { allText, textOfBlock } from '../../../lib/block-text.js';
import type { JsonTexts } from '../../../lib/json-text.js';
import { RESULT_FOLLOWS, resultHeading } from '../../../lib/tool-media.js';
import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { headerSafe } from '../../../http/ignored-header.js';
import type {
  ChatMessage,
  ContentPart,
  ToolCallPart,
} from '../../../schema-types/chat-completion.js';
import type {
  MessagesBlock,
  MessagesMessage,
  MessagesSource,
} from '../../../schema-types/messages.js';
import type { ClientNames } from '../client-names.js';
import type { ReasoningDetail } from '../codec.js';
import { hiddenKind, hiddenText } from './hidden-media.js';
import { unsealed } from './sealed-reasoning.js';
import { serverToolBlocks } from './server-tool-blocks.js';

/** The format of reasoning that only Claude gets back. */
export const CLAUDE_FORMAT = 'anthropic-claude-v1';

/** The state of reading a conversation: its model, and the names of the parts left out. */
export interface Reader {
  model: Model;
  ignored: Set<string>;
  names: ClientNames;
  texts: JsonTexts;
  /** The names of what only an upstream with the same API gets. */
  inner: Set<string>;
  /** Set if a part that the model cannot see was replaced by a text. */
  hides?: boolean;
}

/** Translates the message at a place of the request into messages of chat completions. */
export function messagesOf(message: MessagesMessage, place: string, reader: Reader): ChatMessage[] {
  const made = translated(message, place, reader);
  for (const one of made) reader.names.place(one, place);
  return made;
}

function translated(
  { role, content }: MessagesMessage,
  place: string,
  reader: Reader,
): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'assistant') return [assistantOf(content, reader)];
  // Tool results come before the other content of the user, and their images after.
  const placed = content.map((block, at) => ({ block, at: `${place}.content[${at}]` }));
  const results = placed.filter(({ block }) => block.type === 'tool_result');
  const rest = placed.filter(
    ({ block }) => block.type !== 'tool_result' && isAllowedIn(role, block),
  );
  noteOthers(role, content, reader);
  const read = results.map(({ block, at }) => resultOf(block, at, reader));
  const content_parts = [
    ...read.flatMap(({ media }) => media),
    ...rest.flatMap(({ block, at }) => placedParts(block, at, reader)),
  ];
  const messages = read.map(({ message }) => message);
  return content_parts.length === 0 && results.length > 0
    ? messages
    : [...messages, { role, content: content_parts.length > 0 ? simplified(content_parts) : [] }];
}

/** Blocks that only an assistant has. */
const THOUGHTS_AND_CALLS = new Set(['thinking', 'redacted_thinking', 'tool_use']);

/** The types that are read; of blocks of others, only their text is. */
const TYPES = new Set([
  ...THOUGHTS_AND_CALLS,
  'text',
  'image',
  'document',
  'tool_result',
  'tool_reference',
  'search_result',
]);

/** Whether a message of that role may have the block. Others are left out and named as ignored. */
export function isAllowedIn(role: MessagesMessage['role'], { type }: MessagesBlock): boolean {
  const isOwn = THOUGHTS_AND_CALLS.has(type);
  return role === 'assistant' ? isOwn || type === 'text' : !isOwn;
}

function noteOthers(
  role: MessagesMessage['role'],
  blocks: readonly MessagesBlock[],
  { ignored, inner }: Reader,
): void {
  const returned = role === 'assistant' ? serverToolBlocks(blocks) : [];
  for (const { type } of returned) inner.add(`messages[].content[].${type}`);
  for (const block of blocks) {
    if (returned.includes(block)) continue;
    const isEmpty = !TYPES.has(block.type) && textOfBlock(block) === '';
    if (isEmpty || !isAllowedIn(role, block))
      ignored.add(`messages[].content[].${headerSafe(block.type)}`);
  }
}

function assistantOf(blocks: readonly MessagesBlock[], reader: Reader): ChatMessage {
  noteOthers('assistant', blocks, reader);
  const reasoning_details = blocks.flatMap((block) => reasoningOf(block, reader));
  const uses = blocks.filter(({ type }) => type === 'tool_use');
  const content = contentOf(blocks.filter(({ type }) => type === 'text'));
  const mark = uses.findLast(({ cache_control }) => cache_control)?.cache_control;
  return {
    role: 'assistant',
    content: content.length === 0 && uses.length > 0 ? null : content,
    ...(uses.length > 0 && { tool_calls: uses.map(callOf) }),
    ...(reasoning_details.length > 0 && { reasoning_details }),
    ...(mark && { cache_control: mark }),
  };
}

function reasoningOf(block: MessagesBlock, { texts }: Reader): ReasoningDetail[] {
  const { type, thinking, signature = '', data } = block;
  if (type === 'redacted_thinking' && data !== undefined) {
    const own = unsealed(data, texts);
    return own.length > 0 ? own : [{ type: 'reasoning.encrypted', data, format: CLAUDE_FORMAT }];
  }
  if (type !== 'thinking' || thinking === undefined) return [];
  const [own] = unsealed(signature, texts);
  if (own) return [{ ...own, text: thinking }];
  const signed = signature === '' ? {} : { signature };
  return [{ type: 'reasoning.text', text: thinking, ...signed, format: CLAUDE_FORMAT }];
}

function callOf({ id = '', name = '', input = {} }: MessagesBlock): ToolCallPart {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

interface Result {
  message: ChatMessage;
  /** Images and files for the next message, as most upstreams take only text in a tool message. */
  media: ContentPart[];
}

function resultOf(block: MessagesBlock, place: string, reader: Reader): Result {
  const { tool_use_id = '', content = '', is_error, cache_control } = block;
  const parts = Array.isArray(content)
    ? content.flatMap((one, at) => placedParts(one, `${place}.content[${at}]`, reader))
    : [textPart(allText(content))];
  const shown = parts.map((part) => shownPart(part, reader));
  const media = shown.filter(({ type }) => type !== 'text');
  const texts = shown.filter(({ type }) => type === 'text');
  if (is_error === true) texts.unshift(textPart('The tool failed:'));
  if (texts.length === 0 && media.length > 0) texts.push(textPart(RESULT_FOLLOWS));
  const message: ChatMessage = {
    role: 'tool',
    tool_call_id: tool_use_id,
    content: simplified(texts),
    ...(cache_control && { cache_control }),
  };
  if (media.length === 0) return { message, media };
  return { message, media: [textPart(resultHeading(tool_use_id)), ...media] };
}

/** Replaces a part of a tool result that the model cannot see by a text that says so. */
function shownPart(part: ContentPart, reader: Reader): ContentPart {
  const hidden = hiddenKind(part, reader.model.capabilities);
  if (hidden === undefined) return part;
  reader.hides = true;
  reader.ignored.add(`messages[].content[].${hidden}`);
  return hiddenText(hidden);
}

/** The content as text, where its blocks are nothing else, or as content parts. */
export function contentOf(content: string | readonly MessagesBlock[]): string | ContentPart[] {
  return typeof content === 'string'
    ? content
    : simplified(content.flatMap((block) => partsOfBlock(block)));
}

/** Plain texts without a cache mark become a string, which every upstream accepts. */
function simplified(parts: ContentPart[]): string | ContentPart[] {
  const isPlain = parts.every((part) => part.type === 'text' && part.cache_control === undefined);
  if (!isPlain) return parts;
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

function textPart(text: string, mark: object = {}): ContentPart {
  return { type: 'text', text, ...mark };
}

function placedParts(block: MessagesBlock, place: string, { names }: Reader): ContentPart[] {
  return partsOfBlock(block, place).map((part) => names.place(part, place));
}

function partsOfBlock(block: MessagesBlock, place = 'messages'): ContentPart[] {
  // The schema has checked the fields of known types alone.
  const { cache_control } = TYPES.has(block.type) ? block : {};
  const mark = cache_control ? { cache_control } : {};
  const { type, source, tool_name = '', title, content } = block;
  if (type === 'text') return [textPart(block.text ?? '', mark)];
  if (type === 'image' && typeof source === 'object') {
    return [{ type: 'image_url', image_url: { url: urlOf(source, place) }, ...mark }];
  }
  if (type === 'document' && typeof source === 'object')
    return documentOf(block, source, mark, place);
  if (type === 'tool_reference') {
    return [textPart(`The tool ${tool_name} can be called now.`, mark)];
  }
  if (type === 'search_result') {
    const texts = [title ?? '', typeof source === 'string' ? source : '', allText(content)];
    return [textPart(texts.filter(Boolean).join('\n'), mark)];
  }
  const text = textOfBlock(block);
  return text === '' ? [] : [textPart(text, mark)];
}

function documentOf(
  { title, context }: MessagesBlock,
  source: MessagesSource,
  mark: object,
  place: string,
): ContentPart[] {
  const about = [title, context].filter(Boolean).join('\n');
  const heading = about === '' ? [] : [textPart(about)];
  if (source.type === 'text') return [...heading, textPart(source.data ?? '', mark)];
  if (source.type === 'content') {
    const { content = '' } = source;
    const parts =
      typeof content === 'string'
        ? [textPart(content)]
        : content.flatMap((one) => partsOfBlock(one, place));
    return [...heading, ...parts];
  }
  const filename = title ? { filename: title } : {};
  const file =
    source.type === 'file'
      ? { file_id: source.file_id ?? '' }
      : { file_data: urlOf(source, place) };
  return [
    ...(context ? [textPart(context)] : []),
    { type: 'file', file: { ...file, ...filename }, ...mark },
  ];
}

/**
 * The URL of a source. Throws `GatewayError` for the ID of a file, which only its own API knows.
 */
function urlOf({ type, url, media_type = '', data = '' }: MessagesSource, param: string): string {
  if (type === 'file') {
    const message = 'An image by the ID of a file cannot be read here: send its bytes or a URL.';
    throw new GatewayError('invalid_request', message, { param });
  }
  return url ?? `data:${media_type};base64,${data}`;
}
