import type { Upstream } from '../../core/model.js';
import { isPlainTier } from '../../core/service-tiers.js';
import { toolPriceName } from '../../core/server-tools.js';
import { UpstreamError } from '../../core/upstream-error.js';
import { headerSafe } from '../../http/ignored-header.js';
import { isRecord, mapChanged, mapContent, recordsIn } from '../../lib/objects.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { MessagesBlock } from '../../schema-types/messages.js';
import type { ChatCall, MessagesOriginal } from './codec.js';
import { namesOfTool } from './formats/own-tools.js';

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
 * Leaves out of a call what raises its cost and has no price at this upstream: writes to the cache
 * for an hour, service tiers, and tools that it runs itself. A manifest whose price covers the hour
 * says `wire: { cache_hour: true }`. Other fields that raise the cost by themselves are no part of
 * a call, since `passthrough` cannot list them. Throws the `UpstreamError` `unsupported` if the
 * client demands a tool without a price.
 */
export function guardCost(call: ChatCall, upstream: Upstream): GuardedCall {
  const { provider, price } = upstream;
  const hasHour = price.cache_write_1h_nano_per_million !== undefined;
  const guard = new CacheGuard(provider.wire.cache_hour === true || hasHour);
  const marked = guard.readCall(call);
  const ignored = new Set(guard.has_changed ? [`${MARK}.ttl`] : NOTHING);
  const guarded = withoutUnpricedTools(withoutTier(marked, upstream, ignored), upstream, ignored);
  return { call: guarded, ignored: ignored.size > 0 ? [...ignored] : NOTHING };
}

const TIER = 'service_tier';

/**
 * Whether an upstream gets a service tier: one that it has a price for, or a plain one where the
 * wire is known to have tiers.
 */
export function takesTier(tier: unknown, { price, provider }: Upstream): boolean {
  if (typeof tier !== 'string') return false;
  const hasTiers = price.tiers !== undefined || provider.wire.service_tiers === true;
  return price.tiers?.has(tier) === true || (hasTiers && isPlainTier(tier));
}

function withoutTier(call: ChatCall, upstream: Upstream, ignored: Set<string>): ChatCall {
  if (call.fields[TIER] === undefined || takesTier(call.fields[TIER], upstream)) return call;
  const { [TIER]: _, ...fields } = call.fields;
  ignored.add(TIER);
  return { ...call, fields };
}

function withoutUnpricedTools(call: ChatCall, { price }: Upstream, ignored: Set<string>): ChatCall {
  const { fields, tool_types, max_tool_calls } = call;
  if (max_tool_calls === undefined) return call;
  const { tools: given, tool_choice: choice, parallel_tool_calls: _, ...others } = fields;
  const tools = recordsIn(given);
  const isPriced = ({ type }: Tool): boolean =>
    price.per_tool_call?.has(toolPriceName(String(type))) === true;
  const isTaken = (tool: Tool): boolean =>
    tool.type === 'function' || tool_types?.has(String(tool.type)) === true || isPriced(tool);
  const left = tools.filter((tool) => !isTaken(tool));
  const kept = tools.filter(isTaken);
  // Without a price there is nothing to bound.
  const { max_tool_calls: _bound, ...unbounded } = call;
  const guarded = kept.some(isPriced) ? call : unbounded;
  if (left.length === 0) return guarded;
  for (const { type } of left) ignored.add(`tools[].${headerSafe(String(type))}`);
  const demanded = isRecord(choice) ? namesOfTool(choice) : [];
  const isDemanded = (tool: Tool): boolean =>
    namesOfTool(tool).some((name) => demanded.includes(name));
  const isMissed = left.some(isDemanded) && !kept.some(isDemanded);
  if (isMissed || (choice === 'required' && kept.length === 0)) {
    const message = 'tool_choice demands a tool for which this upstream has no price.';
    throw new UpstreamError('unsupported', message, undefined, { param: 'tool_choice' });
  }
  if (kept.length === 0) return { ...guarded, fields: others };
  return { ...guarded, fields: { ...fields, tools: kept } };
}

type Tool = Readonly<Record<string, unknown>>;

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
