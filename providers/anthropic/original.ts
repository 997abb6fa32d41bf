import type { MessagesOriginal } from '../../src/modalities/chat/codec.js';
import { isServerToolBlock, otherBlockFields } from '../../src/core/block-fields.js';
import { allText, textOfBlock } from '../../src/lib/block-text.js';
import { pictureType, tidyBase64 } from '../../src/lib/tidy-media.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { MessagesBlock, MessagesSource } from '../../src/schema-types/messages.js';
import { imageBytes } from './blocks.js';
import { cacheControl, type EncodeContext } from './context.js';
import { textOnly, Turns, type Conversation } from './messages.js';
import type {
  Block,
  DocumentBlock,
  MediaBlock,
  ServerToolBlock,
  TextBlock,
  ToolReferenceBlock,
} from './wire.js';

/**
 * A conversation whose client spoke this very API: its blocks go out in their order, with their
 * marks and signatures. `runs_tools`: the API itself can run tools in this call, and takes back
 * what it had of them before. Throws the `UpstreamError` `unsupported` for files by their ID.
 */
export function originalConversation(
  { system: given, messages }: MessagesOriginal,
  context: EncodeContext,
  runs_tools: boolean,
): Conversation {
  const system = systemBlocks(given, 'original.system', context);
  const turns = new Turns(context.model.system_turns);
  let hasBegun = false;
  for (const [index, { role, content }] of messages.entries()) {
    const at = `original.messages[${index}]`;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    hasBegun ||= role !== 'system';
    if (role === 'user') turns.say(role, blocksOf(blocks, at, context));
    else if (role === 'assistant') turns.say(role, saidBlocks(blocks, at, context, runs_tools));
    else if (hasBegun) turns.instruct(systemBlocks(blocks, at, context));
    else system.push(...systemBlocks(blocks, at, context));
  }
  return { system, turns: turns.finish() };
}

/** The blocks of the assistant. Tools that the API has run are its own words for what it did. */
function saidBlocks(
  blocks: readonly MessagesBlock[],
  at: string,
  context: EncodeContext,
  runs_tools: boolean,
): Block[] {
  let is_left_out = false;
  const said: Block[] = [];
  for (const [index, block] of blocks.entries()) {
    if (!isServerToolBlock(block)) said.push(...blockOf(block, `${at}.content[${index}]`, context));
    else if (runs_tools) said.push(serverToolBlock(block, context));
    else is_left_out = true;
  }
  const isThought = ({ type }: Block): boolean =>
    type === 'thinking' || type === 'redacted_thinking';
  // The API refuses thoughts alone.
  return is_left_out && said.every(isThought) ? [] : said;
}

function serverToolBlock(block: MessagesBlock, context: EncodeContext): ServerToolBlock {
  const { id, name, input, tool_use_id, content } = block;
  const type = block.type as ServerToolBlock['type'];
  const read = block.type === 'server_tool_use' ? { id, name, input } : { tool_use_id, content };
  return { type, ...read, ...moreOf(block, context) };
}

function systemBlocks(
  blocks: readonly MessagesBlock[],
  at: string,
  context: EncodeContext,
): TextBlock[] {
  return textOnly(blocksOf(blocks, at, context), at);
}

function blocksOf(blocks: readonly MessagesBlock[], at: string, context: EncodeContext): Block[] {
  const read: Block[] = [];
  for (const [index, block] of blocks.entries()) {
    read.push(...blockOf(block, `${at}.content[${index}]`, context));
  }
  return read;
}

function blockOf(block: MessagesBlock, at: string, context: EncodeContext): Block[] {
  const { type, id = '', name = '', thinking = '', signature = '', data = '' } = block;
  const more = moreOf(block, context);
  switch (type) {
    case 'tool_use':
      return [{ type, id, name, input: { ...block.input }, ...more }];
    case 'tool_result': {
      const content = resultOf(block, at, context);
      return [
        {
          type,
          tool_use_id: block.tool_use_id ?? '',
          ...(content.length > 0 && { content }),
          ...(block.is_error && { is_error: true }),
          ...more,
        },
      ];
    }
    case 'thinking':
      return [{ type, thinking, signature, ...othersOf(block, context) }];
    case 'redacted_thinking':
      return [{ type, data, ...othersOf(block, context) }];
    default:
      return mediaOf(block, at, context);
  }
}

/** What stands beside the content of a block: its mark, and the fields that are not read. */
function moreOf(block: MessagesBlock, context: EncodeContext): object {
  return { ...othersOf(block, context), ...cacheControl(block, context) };
}

/** The fields that are not read go to Anthropic's own API, which has new ones often. */
function othersOf(block: MessagesBlock, { betas }: EncodeContext): object {
  return betas ? otherBlockFields(block) : {};
}

function resultOf(
  { content = '' }: MessagesBlock,
  at: string,
  context: EncodeContext,
): (MediaBlock | ToolReferenceBlock)[] {
  if (!Array.isArray(content)) return textBlocks(allText(content));
  const blocks: readonly MessagesBlock[] = content;
  return blocks.flatMap((block, index): (MediaBlock | ToolReferenceBlock)[] => {
    const { type, tool_name = '' } = block;
    const isReference = type === 'tool_reference' && context.betas !== undefined;
    return isReference
      ? [{ type, tool_name, ...moreOf(block, context) }]
      : mediaOf(block, `${at}.content[${index}]`, context);
  });
}

/** Reads the blocks of a user or a tool. A block of an unknown type becomes its text. */
function mediaOf(block: MessagesBlock, at: string, context: EncodeContext): MediaBlock[] {
  const { type, source, title, tool_name, content } = block;
  const mark = cacheControl(block, context);
  const more = { ...othersOf(block, context), ...mark };
  if (type === 'image' && typeof source === 'object') {
    return [{ ...imageOf(source, at), ...more }];
  }
  if (type === 'document' && typeof source === 'object') {
    return [{ ...documentOf(block, source, at, context), ...more }];
  }
  if (type === 'search_result' && typeof source === 'string') {
    const found: readonly MessagesBlock[] = Array.isArray(content) ? content : [];
    const texts = textOnly(blocksOf(found, at, context), at);
    return [{ type, source, title: title ?? '', content: texts, ...more }];
  }
  const text =
    type === 'tool_reference'
      ? `The tool ${tool_name ?? ''} can be called now.`
      : textOfBlock(block);
  // Of a block of another type, nothing but its text is sent.
  return textBlocks(text).map((one) => ({ ...one, ...(type === 'text' ? more : mark) }));
}

/** The API refuses text of nothing but white space. */
function textBlocks(text: string): TextBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function imageOf({ type, url = '', media_type = '', data = '' }: MessagesSource, at: string) {
  if (type === 'url') return { type: 'image', source: { type, url } } as const;
  if (type !== 'base64') throw unsupported(at);
  const tidy = tidyBase64(data);
  return { type: 'image', source: imageBytes(pictureType(media_type, tidy), tidy, at) } as const;
}

function documentOf(
  { title, context: about }: MessagesBlock,
  source: MessagesSource,
  at: string,
  context: EncodeContext,
): DocumentBlock {
  const named = { ...(title && { title }), ...(about && { context: about }) };
  return { type: 'document', source: documentSource(source, at, context), ...named };
}

function documentSource(
  { type, url = '', data = '', content = '' }: MessagesSource,
  at: string,
  context: EncodeContext,
): DocumentBlock['source'] {
  switch (type) {
    case 'text':
      return { type, media_type: 'text/plain', data };
    case 'base64':
      return { type, media_type: 'application/pdf', data: tidyBase64(data) };
    case 'url':
      return { type, url };
    case 'content': {
      if (typeof content === 'string') return { type, content: textBlocks(content) };
      const inner = content.flatMap((block, index) =>
        mediaOf(block, `${at}.content[${index}]`, context),
      );
      return {
        type,
        content: inner.filter((block) => block.type === 'text' || block.type === 'image'),
      };
    }
    default:
      throw unsupported(at);
  }
}

/** An ID names a file of the gateway's account, which is not one client's own. */
function unsupported(param: string): UpstreamError {
  const message = `${param}: this upstream does not take files by their ID.`;
  return new UpstreamError('unsupported', message, undefined, { param });
}
