import { argumentsObject } from '../../src/lib/tool-arguments.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { ChatMessage, ToolCallPart } from '../../src/schema-types/chat-completion.js';
import { cacheControl, type EncodeContext } from './context.js';
import { mediaBlocks } from './blocks.js';
import { reasoningBlocks } from './reasoning.js';
import type { Block, MediaBlock, TextBlock, ToolResultBlock, ToolUseBlock, Turn } from './wire.js';

/** The messages of a call: the system prompt, and turns of alternating roles. */
export interface Conversation {
  system: TextBlock[];
  turns: Turn[];
}

/** Said by the user where a client's conversation does not begin with one. */
const OPENING: Block = { type: 'text', text: 'Begin.' };

/**
 * Messages for the API. System messages before the conversation become the system prompt. Roles
 * must alternate, so consecutive messages of one role become one turn, in which tool results come
 * first. Throws the `UpstreamError` `unsupported` for a message that the model does not accept.
 */
export function conversation(
  messages: readonly ChatMessage[],
  context: EncodeContext,
): Conversation {
  const isSystem = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer';
  const begins = messages.findIndex((message) => !isSystem(message));
  const leading = begins === -1 ? messages.length : begins;
  const turns = new Turns(context.model.system_turns);
  messages.forEach((message, index) => {
    if (message.name !== undefined) context.ignored.add('messages[].name');
    if (index < leading) return;
    const at = `messages[${index}]`;
    if (isSystem(message)) turns.instruct(systemBlocks(message, at, context));
    else if (message.role === 'assistant') {
      turns.say('assistant', assistantBlocks(message, at, context));
    } else turns.say('user', userBlocks(message, at, context));
  });
  const system = messages
    .slice(0, leading)
    .flatMap((message, index) => systemBlocks(message, `messages[${index}]`, context));
  return { system, turns: turns.finish() };
}

/** Adds up the turns of a conversation. */
export class Turns {
  readonly #turns: Turn[] = [];
  /** Instructions that wait for the end of the user's turn. */
  #waiting: TextBlock[] = [];
  readonly #takesSystem: boolean;

  constructor(takesSystem: boolean) {
    this.#takesSystem = takesSystem;
  }

  say(role: 'user' | 'assistant', blocks: Block[]): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === role) {
      last.content.push(...blocks);
      return;
    }
    if (role === 'assistant') this.#closeUser();
    this.#turns.push({ role, content: blocks });
  }

  /** Later system messages. New models accept them; for others they join the user's turn. */
  instruct(blocks: TextBlock[]): void {
    if (this.#takesSystem) this.#waiting.push(...blocks);
    else this.say('user', blocks.map(asUserText));
  }

  finish(): Turn[] {
    const turns = this.#turns;
    if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [OPENING] });
    if (turns.at(-1)?.role === 'assistant') this.say('user', this.#waiting.map(asUserText));
    else this.#closeUser();
    for (const turn of turns) if (turn.role === 'user') turn.content = resultsFirst(turn.content);
    return turns;
  }

  #closeUser(): void {
    if (this.#waiting.length === 0 || this.#turns.at(-1)?.role !== 'user') return;
    this.#turns.push({ role: 'system', content: this.#waiting });
    this.#waiting = [];
  }
}

function asUserText({ text, ...rest }: TextBlock): TextBlock {
  return { ...rest, text: `<system>\n${text}\n</system>` };
}

function resultsFirst(blocks: readonly Block[]): Block[] {
  const isResult = ({ type }: Block): boolean => type === 'tool_result';
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function systemBlocks(message: ChatMessage, at: string, context: EncodeContext): TextBlock[] {
  const blocks = textOnly(mediaBlocks(message.content, at, context), at);
  return withCacheControl(blocks, message, context);
}

/** The blocks as texts. Throws `UpstreamError` (unsupported), naming `at`, for any other block. */
export function textOnly(blocks: readonly Block[], at: string): TextBlock[] {
  return blocks.map((block) => {
    if (block.type === 'text') return block;
    const message = `${at}.content: this upstream takes text alone here.`;
    throw new UpstreamError('unsupported', message, undefined, { param: `${at}.content` });
  });
}

/** The blocks of an assistant's turn: thoughts, text, then calls. */
function assistantBlocks(message: ChatMessage, at: string, context: EncodeContext): Block[] {
  const blocks: Block[] = [
    ...textOnly(mediaBlocks(message.content, at, context), at),
    ...(message.tool_calls ?? []).map((call) => toolUseBlock(call, context)),
  ];
  return [
    ...reasoningBlocks(message.reasoning_details),
    ...withCacheControl(blocks, message, context),
  ];
}

/** The blocks of a user's message, or of a tool result. */
function userBlocks(message: ChatMessage, at: string, context: EncodeContext): Block[] {
  const blocks = mediaBlocks(message.content, at, context);
  return message.role === 'tool'
    ? [toolResultBlock(message, blocks, context)]
    : withCacheControl(blocks, message, context);
}

function toolUseBlock(
  { id, function: called }: ToolCallPart,
  { texts }: EncodeContext,
): ToolUseBlock {
  const input = argumentsObject(called.arguments, texts);
  return { type: 'tool_use', id, name: called.name, input };
}

function toolResultBlock(
  message: ChatMessage,
  content: MediaBlock[],
  context: EncodeContext,
): ToolResultBlock {
  return {
    type: 'tool_result',
    tool_use_id: message.tool_call_id ?? '',
    ...(content.length > 0 && { content }),
    ...cacheControl(message, context),
  };
}

/** A message's own cache mark stands on the last of its blocks. */
function withCacheControl<Marked extends Block>(
  blocks: Marked[],
  message: ChatMessage,
  context: EncodeContext,
): Marked[] {
  const last = blocks.at(-1);
  if (!last) return blocks;
  return [...blocks.slice(0, -1), { ...last, ...cacheControl(message, context) }];
}
