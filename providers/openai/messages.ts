import { UpstreamError } from '../../src/core/upstream-error.js';
import type { Upstream } from '../../src/core/model.js';
import type { ChatMessage, ContentPart } from '../../src/schema-types/chat-completion.js';
import { plainId } from '../../src/lib/tool-id.js';
import { withSignatures } from './google-signatures.js';
import { reasoningBack } from './reasoning.js';
import { shortId } from './tools.js';

type Wire = Upstream['provider']['wire'];

/** The messages for one upstream, and the names of what it does not take. */
export interface SentMessages {
  messages: readonly object[];
  ignored: readonly string[];
}

const NOTHING: readonly string[] = [];

/**
 * The messages in the words of one upstream. Where all of them are plain text they are passed on
 * as they are, without a copy. Throws `unsupported` for a file where files are not taken.
 */
export function sentMessages(messages: readonly ChatMessage[], upstream: Upstream): SentMessages {
  if (messages.every(isPlain)) return { messages, ignored: NOTHING };
  const ignored = new Set<string>();
  const sent = messages.map((message, index) =>
    isPlain(message) ? message : sentMessage(message, index, upstream, ignored),
  );
  return { messages: sent, ignored: [...ignored] };
}

function isPlain(message: ChatMessage): boolean {
  return (
    typeof message.content === 'string' &&
    message.tool_calls === undefined &&
    message.tool_call_id === undefined &&
    message.reasoning_content === undefined &&
    message.reasoning_details === undefined &&
    message.cache_control === undefined &&
    message.is_error === undefined
  );
}

function sentMessage(
  message: ChatMessage,
  index: number,
  { provider: { wire }, model }: Upstream,
  ignored: Set<string>,
): object {
  const { role, content, name, tool_calls, tool_call_id } = message;
  const sent = {
    role,
    content: content === undefined ? undefined : contentOf(message, index, wire, ignored),
    ...(name !== undefined && { name }),
    ...(tool_calls && {
      tool_calls: tool_calls.map((call) => ({ ...call, id: sentId(call.id, wire) })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id: sentId(tool_call_id, wire) }),
  };
  // The wire has no word for it; the text of the result tells.
  if (message.is_error) ignored.add('messages[].is_error');
  if (role !== 'assistant') return sent;
  if (wire['thought_signatures'] === true) return withSignatures(sent, message, model);
  return { ...sent, ...reasoningBack(message, sent.content, wire['reasoning_back']) };
}

/** Signatures in an id are for another wire, and some wires take ids of one length alone. */
function sentId(id: string, wire: Wire): string {
  const length = wire['tool_id_length'];
  const plain = plainId(id);
  return typeof length === 'number' ? shortId(plain, length) : plain;
}

function contentOf(
  message: ChatMessage,
  index: number,
  wire: Wire,
  ignored: Set<string>,
): ChatMessage['content'] {
  const { content } = message;
  const isText = wire['text_content'] === true;
  if (content === null || content === undefined) return isText ? '' : null;
  const parts = cached(content, message.cache_control, wire, ignored);
  if (typeof parts === 'string') return parts;
  const taken = parts.map((part, at) => partFor(part, `messages[${index}].content[${at}]`, wire));
  if (!isText || !taken.every((part) => part.type === 'text')) return taken;
  return taken.map((part) => part.text).join('\n');
}

/**
 * Marks for the upstream's cache stay where the upstream reads them, which is on parts. A mark on
 * the whole message goes to its last part.
 */
function cached(
  content: string | ContentPart[],
  mark: ChatMessage['cache_control'],
  wire: Wire,
  ignored: Set<string>,
): string | ContentPart[] {
  const takes = wire['cache_control'] === true;
  if (typeof content === 'string') {
    if (!mark) return content;
    if (takes) return [{ type: 'text', text: content, cache_control: mark }];
    ignored.add('messages[].cache_control');
    return content;
  }
  if (takes) {
    return mark
      ? content.map((part, at) => (at === content.length - 1 ? withMark(part, mark) : part))
      : content;
  }
  if (mark) ignored.add('messages[].cache_control');
  if (content.some((part) => 'cache_control' in part)) {
    ignored.add('messages[].content[].cache_control');
  }
  return content.map(withoutMark);
}

function withMark(part: ContentPart, mark: NonNullable<ChatMessage['cache_control']>): ContentPart {
  return part.type === 'input_audio' || part.cache_control
    ? part
    : { ...part, cache_control: mark };
}

function withoutMark(part: ContentPart): ContentPart {
  if (!('cache_control' in part)) return part;
  const { cache_control: _, ...rest } = part;
  return rest;
}

function partFor(part: ContentPart, place: string, wire: Wire): ContentPart {
  if (part.type !== 'file' || wire['files'] === true) return part;
  throw new UpstreamError('unsupported', `${place}: this upstream takes no files.`, undefined, {
    param: place,
  });
}
