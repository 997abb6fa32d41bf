import { allCards } from '../../billing/rate-card.js';
import type { Price, Upstream } from '../../core/model.js';
import { isRecord } from '../../lib/objects.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { MessagesBlock, MessagesMessage } from '../../schema-types/messages.js';
import { isChatCodec, type ChatCall, type MarkPlaces, type MessagesOriginal } from './codec.js';

const MARK = { type: 'ephemeral' } as const;

/** Where an upstream takes marks that make its prompts cheaper; undefined if none do. */
export function payingMarks(upstream: Upstream): MarkPlaces | undefined {
  const { price, set, drop } = upstream;
  const isOperators = set.cache_control !== undefined || drop.includes('cache_control');
  if (isOperators || !paysToCache(price)) return undefined;
  const codec = upstream.provider.operations.get('chat')?.codec;
  return isChatCodec(codec) ? codec.cacheMarks?.(upstream) : undefined;
}

/** Whether a text costs less that is written to the cache once and read there once. */
export function paysToCache(price: Price): boolean {
  return allCards(price).every((one) => {
    const { input_nano_per_million: input, cache_write_nano_per_million: write } = one;
    const { cached_input_nano_per_million: read = input } = one;
    return write !== undefined && write + read < 2n * input;
  });
}

/**
 * The call with marks where its prompt may be cached: behind the tools and the instructions, and
 * where the prompt of the turn before ended and where this one ends. Only a conversation that goes
 * on gets them, from the first answer on: a single call would be written and never read. A client
 * that sends marks of its own knows better.
 */
export function withCacheMarks(call: ChatCall, { tools: takesTools }: MarkPlaces): ChatCall {
  const { messages, fields, original, n } = call;
  if (n > 1 || endsOfPrompts(messages).length === 0 || isMarked(call)) return call;
  const { tools } = fields;
  return {
    ...call,
    is_plain: false,
    messages: markedMessages(messages),
    ...(takesTools && Array.isArray(tools) && { fields: { ...fields, tools: markedTools(tools) } }),
    ...(original && { original: markedOriginal(original) }),
  };
}

type Role = Pick<ChatMessage | MessagesMessage, 'role'>;

/**
 * The last messages of this prompt and of the one before; none if the model has not answered yet.
 * The last words of the assistant, if it is to go on with them, are no answer.
 */
function endsOfPrompts(messages: readonly Role[]): number[] {
  const last = messages.findLastIndex(isAsked);
  const answer = messages.slice(0, Math.max(last, 0)).findLastIndex(isAnswer);
  if (answer === -1) return [];
  const before = messages.slice(0, answer).findLastIndex(isAsked);
  return before === -1 ? [last] : [before, last];
}

function isAsked({ role }: Role): boolean {
  return role === 'user' || role === 'tool';
}

function isAnswer({ role }: Role): boolean {
  return role === 'assistant';
}

function markedMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const ends = new Set([first - 1, ...endsOfPrompts(messages)]);
  return messages.map((message, at) =>
    ends.has(at) ? { ...message, cache_control: MARK } : message,
  );
}

function markedTools(tools: readonly unknown[]): unknown[] {
  const last = tools.at(-1);
  if (!isRecord(last) || last.type !== 'function') return [...tools];
  return [...tools.slice(0, -1), { ...last, cache_control: MARK }];
}

function markedOriginal(original: MessagesOriginal): MessagesOriginal {
  const ends = new Set(endsOfPrompts(original.messages));
  return {
    ...original,
    system: markedBlocks(original.system),
    messages: original.messages.map((message, at) => {
      if (!ends.has(at)) return message;
      const { content } = message;
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      return { ...message, content: markedBlocks(blocks) };
    }),
  };
}

/** Blocks that take a mark; the API refuses one on others. */
const MARKABLE = new Set(['text', 'image', 'document', 'search_result', 'tool_use', 'tool_result']);

function markedBlocks(blocks: readonly MessagesBlock[]): MessagesBlock[] {
  const at = blocks.findLastIndex(({ type, text }) => MARKABLE.has(type) && text?.trim() !== '');
  return blocks.map((block, index) => (index === at ? { ...block, cache_control: MARK } : block));
}

/** Whether the client has marked any part of the call. */
function isMarked({ messages, fields, original }: ChatCall): boolean {
  const { system = [], messages: turns = [], tools = [] } = original ?? {};
  return [fields, messages, fields.tools, system, turns, tools].some(hasMark);
}

/** The parts of a message, a block or a list that may have marks. */
function hasMark(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(hasMark);
  if (!isRecord(part)) return false;
  const { cache_control, content, source } = part;
  return isRecord(cache_control) || hasMark(content) || hasMark(source);
}
