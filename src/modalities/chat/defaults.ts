import type { Upstream } from '../../core/model.js';
import type { ChatRequest } from './call.js';
import { SAMPLING_FIELDS, TOOL_FIELDS } from './formats/chat-completion.js';

/**
 * The request as an upstream gets it: with its default values of the fields that the client has not
 * sent. What the model reads of them counts as prompt, like a client's own.
 */
export function withDefaults(request: ChatRequest, upstream: Upstream): ChatRequest {
  const defaults = upstream.default?.chat;
  if (!defaults) return request;
  const { call, size } = request;
  const sent = new Set(Object.keys(call.fields));
  for (const { path } of call.others ?? []) sent.add(path[0]);
  const hasTools = sent.has('tools');
  const added = Object.entries(defaults).filter(([name]) => {
    return !sent.has(name) && (hasTools || !TOOL_FIELDS.includes(name));
  });
  if (added.length === 0) return request;
  const read = added.filter(([name]) => !SAMPLING_FIELDS.includes(name));
  const bytes = read.map(([, value]) => Buffer.byteLength(JSON.stringify(value)));
  return {
    ...request,
    call: { ...call, fields: { ...Object.fromEntries(added), ...call.fields } },
    size: { ...size, text_bytes: bytes.reduce((sum, count) => sum + count, size.text_bytes) },
  };
}
