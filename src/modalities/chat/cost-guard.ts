import type { Upstream } from '../../core/model.js';
import { isRecord, mapChanged, mapContent } from '../../lib/objects.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { MessagesBlock } from '../../schema-types/messages.js';
import type { ChatCall, MessagesOriginal } from './codec.js';

/** A call as it may be sent, and the names of the fields that were left out of it. */
export interface GuardedCall {
  call: ChatCall;
  ignored: readonly string[];
}

const MARK = 'cache_control';
const NOTHING: readonly string[] = [];
/** A mark with another life than this costs more to write, as far as it is known at all. */
const SHORT = '5m';
const LONG = '1h';
/** The blocks that hold further blocks. */
const HOLDERS = new Set(['tool_result', 'document', 'search_result']);

/**
 * Leaves out of a call what raises its cost inside of fields that are sent: a model has one price
 * for a write to the cache, and a life of an hour costs more than that. A manifest whose operator
 * has that price says `wire: { cache_hour: true }`. Fields that raise the cost by themselves are no
 * part of a call, since `passthrough` cannot list them.
 */
export function guardCost(call: ChatCall, { provider }: Upstream): GuardedCall {
  const guard = new CacheGuard(provider.wire.cache_hour === true);
  const guarded = guard.readCall(call);
  return { call: guarded, ignored: guard.has_changed ? [`${MARK}.ttl`] : NOTHING };
}

interface Marked {
  cache_control?: unknown;
}

class CacheGuard {
  has_changed = false;

  constructor(private readonly takes_long: boolean) {}

  readCall(call: ChatCall): ChatCall {
    const { messages, fields, original } = call;
    const read: ChatCall = {
      ...call,
      messages: mapChanged(messages, (message) => this.#message(message)),
      fields: this.#fields(fields),
      ...(original && { original: this.#original(original) }),
    };
    return this.has_changed ? read : call;
  }

  #message(message: ChatMessage): ChatMessage {
    const { content } = message;
    if (!Array.isArray(content)) return this.#marked(message);
    const parts = mapChanged(content, (part) =>
      part.type === 'input_audio' ? part : this.#marked(part),
    );
    return this.#marked(parts === content ? message : { ...message, content: [...parts] });
  }

  #fields(fields: ChatCall['fields']): ChatCall['fields'] {
    const { tools } = fields;
    if (!Array.isArray(tools)) return this.#marked(fields);
    const read = mapChanged<unknown>(tools, (tool) => (isRecord(tool) ? this.#marked(tool) : tool));
    return this.#marked(read === tools ? fields : { ...fields, tools: read });
  }

  #original(original: MessagesOriginal): MessagesOriginal {
    const { system, messages, tools } = original;
    return {
      ...original,
      system: mapChanged(system, (block) => this.#block(block)),
      messages: mapChanged(messages, (message) =>
        mapContent(message, (block: MessagesBlock) => this.#block(block)),
      ),
      tools: mapChanged(tools, (tool) => this.#marked(tool)),
    };
  }

  #block(block: MessagesBlock): MessagesBlock {
    const { type, content, source } = block;
    // A block of an unknown kind may hold anything, and only its text is sent.
    if (!HOLDERS.has(type)) return this.#marked(block);
    const read = { ...block };
    if (Array.isArray(content)) read.content = this.#blocks(content as MessagesBlock[]);
    if (typeof source === 'object' && Array.isArray(source.content)) {
      read.source = { ...source, content: this.#blocks(source.content) };
    }
    const isSame = read.content === content && read.source === source;
    return this.#marked(isSame ? block : read);
  }

  #blocks(blocks: MessagesBlock[]): MessagesBlock[] {
    return [...mapChanged(blocks, (block) => this.#block(block))];
  }

  #marked<Part extends Marked>(part: Part): Part {
    const { cache_control: mark } = part;
    if (!isRecord(mark)) return part;
    const { ttl, ...rest } = mark;
    if (ttl === undefined || ttl === SHORT || (ttl === LONG && this.takes_long)) return part;
    this.has_changed = true;
    return { ...part, cache_control: rest };
  }
}
