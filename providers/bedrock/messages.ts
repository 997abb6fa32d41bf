import { argumentsObject } from '../../src/lib/tool-arguments.js';
import { RESULT_FOLLOWS, resultHeading } from '../../src/lib/tool-media.js';
import type { ChatMessage } from '../../src/schema-types/chat-completion.js';
import { JsonTexts } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import { DocumentNames, partBlocks, textBlocks, type Block } from './content.js';
import { unsupported } from './errors.js';
import { cachePoints, type Target } from './model.js';
import { reasoningBlocks } from './reasoning.js';

export interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

/** The messages of a call: the system prompt, and turns of alternating roles. */
export interface Conversation {
  system: Block[];
  messages: Turn[];
}

interface MessageContext {
  target: Target;
  /** Whether the request has tools: without them, blocks of calls and results are an error. */
  hasTools: boolean;
  names: DocumentNames;
  texts: JsonTexts;
}

/** Kinds of blocks that only some models take inside a result. */
const MEDIA = ['image', 'document'];

/** A conversation has to begin with the user. */
const BEGINNING: Turn = { role: 'user', content: [{ text: 'Begin.' }] };
/** The content of an empty result, as Converse refuses one without content. */
const EMPTY_RESULT: Block = { text: '(empty)' };

/**
 * The messages of a call for Converse: system prompts are separate, consecutive turns of one role
 * are merged, and tool results come first. Throws the `UpstreamError` `unsupported` for a part that
 * Converse does not have.
 */
export function conversationOf(
  messages: readonly ChatMessage[],
  target: Target,
  hasTools: boolean,
): Conversation {
  const names = new DocumentNames();
  const context: MessageContext = { target, hasTools, names, texts: new JsonTexts() };
  const system: Block[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message, `messages[${index}]`, context);
    if (message.name !== undefined) target.ignored.add('messages[].name');
    // Without anything before it, a mark would stand alone.
    if (blocks.length > 0) blocks.push(...cachePoints(message, target, 'messages'));
    const { role } = message;
    if (role === 'system' || role === 'developer') system.push(...blocks);
    else append(turns, role === 'assistant' ? 'assistant' : 'user', blocks);
  }
  if (turns[0]?.role !== 'user') turns.unshift(BEGINNING);
  return { system, messages: turns.map(tidied) };
}

function append(turns: Turn[], role: Turn['role'], blocks: Block[]): void {
  if (blocks.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) last.content.push(...blocks);
  else turns.push({ role, content: blocks });
}

/** A turn in the order that Converse asks for, and with a text wherever there is a document. */
function tidied({ role, content }: Turn, at: number, turns: readonly Turn[]): Turn {
  if (role === 'assistant') {
    return { role, content: at === turns.length - 1 ? trimmed(content) : content };
  }
  const results = content.filter((block) => 'toolResult' in block);
  const others = content.filter((block) => !('toolResult' in block));
  const document = others.find((block) => 'document' in block)?.document;
  if (isRecord(document) && !others.some((block) => 'text' in block)) {
    others.push({ text: `Document: ${String(document.name)}` });
  }
  return { role, content: [...results, ...others] };
}

/** Removes white space at the end of a text that the model is to continue: it is an error. */
function trimmed(content: readonly Block[]): Block[] {
  return content.map((block, at) =>
    at === content.length - 1 && typeof block.text === 'string'
      ? { text: block.text.trimEnd() }
      : block,
  );
}

function blocksOf(message: ChatMessage, at: string, context: MessageContext): Block[] {
  const blocks = contentBlocks(message.content, at, context);
  switch (message.role) {
    case 'system':
    case 'developer':
      if (blocks.some((block) => !('text' in block) && !('cachePoint' in block))) {
        throw unsupported('Amazon Bedrock takes text alone in a system prompt.', `${at}.content`);
      }
      return blocks;
    case 'user':
      return blocks;
    case 'assistant':
      return [
        ...reasoningBlocks(message.reasoning_details),
        ...blocks,
        ...(message.tool_calls ?? []).map((call) => callBlock(call, context)),
      ];
    case 'tool':
      return resultBlocks(message, blocks, context);
  }
}

function contentBlocks(
  content: ChatMessage['content'],
  at: string,
  context: MessageContext,
): Block[] {
  if (typeof content === 'string') return textBlocks(content);
  return (content ?? []).flatMap((part, index) => {
    const blocks = partBlocks(part, `${at}.content[${index}]`, context);
    return blocks.length === 0 || part.type === 'input_audio'
      ? blocks
      : [...blocks, ...cachePoints(part, context.target, 'messages')];
  });
}

function callBlock(
  { id, function: called }: NonNullable<ChatMessage['tool_calls']>[number],
  { hasTools, texts }: MessageContext,
): Block {
  const { name, arguments: args } = called;
  if (!hasTools) return { text: `I called the tool ${name} with ${args || '{}'}.` };
  return { toolUse: { toolUseId: id, name, input: argumentsObject(args, texts) } };
}

function resultBlocks(
  { tool_call_id = '' }: ChatMessage,
  blocks: Block[],
  { hasTools, target }: MessageContext,
): Block[] {
  const marks = blocks.filter((block) => 'cachePoint' in block).slice(-1);
  const visible = blocks.filter((block) => !('cachePoint' in block));
  const content = visible.length > 0 ? visible : [EMPTY_RESULT];
  if (!hasTools) return [{ text: 'The tool answered:' }, ...content, ...marks];
  const inside = target.media_results ? content : content.filter((block) => !isMedia(block));
  const behind = target.media_results ? [] : content.filter(isMedia);
  if (inside.length === 0) inside.push({ text: RESULT_FOLLOWS });
  const heading = behind.length > 0 ? [{ text: resultHeading(tool_call_id) }] : [];
  const toolResult = { toolUseId: tool_call_id, content: inside };
  return [{ toolResult }, ...heading, ...behind, ...marks];
}

function isMedia(block: Block): boolean {
  return MEDIA.some((kind) => kind in block);
}
