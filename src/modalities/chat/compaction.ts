import { GatewayError } from '../../core/errors.js';
import { publicName, type Model, type Upstream } from '../../core/model.js';
import { recordsIn } from '../../lib/objects.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { ChatRequest } from './call.js';
import type { ReasoningDetail } from './codec.js';

/** Stands in a conversation for a compaction that the model cannot read. */
export const UNREADABLE =
  '(The conversation before this was compacted, and its summary cannot be read here.)';

/** The format of the compactions of an upstream; undefined if it compacts nothing. */
export type FormatOf = (upstream: Upstream) => string | undefined;

/** A request, and the upstreams that may get it. */
export interface Readable {
  request: ChatRequest;
  upstreams: readonly Upstream[];
}

/** The compaction in a message of earlier turns. */
export function compactionIn({ reasoning_details }: ChatMessage): ReasoningDetail | undefined {
  const found = recordsIn(reasoning_details).find(({ type }) => type === 'compaction');
  return found as ReasoningDetail | undefined;
}

/**
 * Leaves the upstreams that can serve a compacted conversation: those that compact if the call asks
 * for that, and those that can read its last compaction, if there are any. All others would answer
 * without its memory, so they are asked only where no upstream of the model has it, and a text then
 * says so to the model. Throws `GatewayError` if the model cannot compact.
 */
export function readableBy(request: ChatRequest, model: Model, formatOf: FormatOf): Readable {
  const { call } = request;
  const { compaction, messages } = call;
  if (compaction === undefined) return { request, upstreams: model.upstreams };
  const able =
    compaction === 'earlier' ? model.upstreams : model.upstreams.filter((one) => formatOf(one));
  if (able.length === 0) throw cannotCompact(model);
  const last = messages.findLast(compactionIn);
  const format = last && compactionIn(last)?.format;
  const readers = able.filter((one) => format !== undefined && formatOf(one) === format);
  const upstreams = readers.length > 0 ? readers : able;
  const isRead = (message: ChatMessage): boolean => {
    const found = compactionIn(message);
    return found === undefined || (readers.length > 0 && found.format === format);
  };
  if (messages.every(isRead)) return { request, upstreams };
  const read = messages.map((message): ChatMessage => {
    if (isRead(message)) return message;
    const said: ChatMessage = { role: 'user', content: UNREADABLE };
    return request.names?.placeAs(message, said) ?? said;
  });
  const { compaction: _, ...rest } = call;
  const isOrdinary = compaction === 'earlier' && readers.length === 0;
  const ignored = [...new Set([...request.ignored, 'input[].compaction'])];
  const sent = { ...(isOrdinary ? rest : call), messages: read };
  return { request: { ...request, call: sent, ignored }, upstreams };
}

function cannotCompact(model: Model): GatewayError {
  const message =
    `${publicName(model)} cannot compact a conversation here: ask for a summary by ` +
    'POST /v1/responses. codex does so where its provider is one of yours (model_providers).';
  return new GatewayError('unsupported_capability', message, { param: 'model' });
}
