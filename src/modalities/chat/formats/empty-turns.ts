import { fieldError } from '../../../core/errors.js';
import type { ChatMessage, ContentPart } from '../../../schema-types/chat-completion.js';
import type { ClientNames } from '../client-names.js';
import { compactionIn } from '../compaction.js';

/** The messages that are sent, and those that are left out. */
export interface SpokenTurns {
  messages: ChatMessage[];
  left_out: ChatMessage[];
}

/**
 * Leaves out messages that say nothing: most upstreams refuse them, and reasoning alone. Reasoning
 * before another message of the assistant belongs to that one. Messages of a user that then follow
 * each other become one, as some upstreams demand that roles alternate. Throws `GatewayError`,
 * naming `param`, if nothing is left.
 */
export function spokenTurns(given: ChatMessage[], names: ClientNames, param: string): SpokenTurns {
  if (!given.some(saysNothing)) return { messages: given, left_out: [] };
  const messages: ChatMessage[] = [];
  const left_out: ChatMessage[] = [];
  let thoughts: ChatMessage | undefined;
  let isAfterGap = false;
  for (const [at, one] of given.entries()) {
    const message = thoughts ? names.placeAs(one, withThoughts(one, thoughts)) : one;
    thoughts = undefined;
    const last = messages.at(-1);
    const isEmpty = saysNothing(message);
    if (isEmpty && hasReasoning(message) && given[at + 1]?.role === 'assistant') thoughts = message;
    else if (isEmpty) left_out.push(message);
    else if (isAfterGap && last && isPlainUser(last) && isPlainUser(message)) {
      messages[messages.length - 1] = names.placeAs(last, joinedMessages(last, message));
    } else messages.push(message);
    isAfterGap = isEmpty;
  }
  if (messages.length === 0) throw fieldError(param, 'must not be empty: no turn says anything');
  return { messages, left_out };
}

/**
 * Whether a message is an assistant's without content, calls and a compaction, or one without any
 * part.
 */
export function saysNothing(message: ChatMessage): boolean {
  const { role, content, tool_calls } = message;
  if (role === 'tool' || tool_calls?.length) return false;
  if (role !== 'assistant') return Array.isArray(content) && content.length === 0;
  const isEmpty = Array.isArray(content) ? content.every(isBlank) : !content;
  return isEmpty && !compactionIn(message);
}

/** Whether an assistant's message has reasoning. */
export function hasReasoning({ reasoning_content, reasoning_details }: ChatMessage): boolean {
  return Boolean(reasoning_content) || Boolean(reasoning_details?.length);
}

/** A message with the reasoning of an earlier one before its own. */
function withThoughts(message: ChatMessage, earlier: ChatMessage): ChatMessage {
  const text = [earlier, message].map(({ reasoning_content }) => reasoning_content ?? '').join('');
  const details = [earlier, message].flatMap(({ reasoning_details }) => reasoning_details ?? []);
  return {
    ...message,
    ...(text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

function isBlank(part: ContentPart): boolean {
  return part.type === 'text' && part.text === '';
}

/** Whether a message is of the user and has nothing that would be lost if it were joined. */
function isPlainUser({ role, content, name, cache_control }: ChatMessage): boolean {
  return role === 'user' && Boolean(content) && name === undefined && cache_control === undefined;
}

function joinedMessages(first: ChatMessage, next: ChatMessage): ChatMessage {
  const [before, after] = [first.content ?? '', next.content ?? ''];
  const areTexts = typeof before === 'string' && typeof after === 'string';
  const content = areTexts
    ? `${before}\n\n${after}`
    : [...partsOfContent(before), ...partsOfContent(after)];
  return { ...first, ...next, content };
}

function partsOfContent(content: string | ContentPart[]): ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
