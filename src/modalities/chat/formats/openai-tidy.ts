import { headerSafe } from '../../../http/ignored-header.js';
import { dropNulls, isRecord } from '../../../lib/objects.js';
import { rewriteCalls } from './openai-history.js';

/** The beginning of the URL of an image. */
const ADDRESS = /^(https?|data):/iu;

/** Nested objects of the contract, in whose fields null means absent. */
const INNER = ['image_url', 'input_audio', 'file'];

/**
 * Repairs bodies of clients that break the contract in an unambiguous way: null in an optional
 * field, an empty list of tool calls, the refusal of an earlier answer, the URL of an image as a
 * string, a call in an older form. Changes the body in place; returns false if there was nothing to
 * repair.
 */
export function repairBody(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { messages, tools } = body;
  let hasChanges = dropNulls(body);
  if (dropNulls(body.stream_options)) hasChanges = true;
  for (const message of listIn(messages)) if (repairMessage(message)) hasChanges = true;
  for (const tool of listIn(tools)) {
    if (dropNulls(tool)) hasChanges = true;
    if (isRecord(tool) && dropNulls(tool.custom)) hasChanges = true;
  }
  if (rewriteCalls(listIn(messages))) hasChanges = true;
  return hasChanges;
}

/** The types of parts that chat completions know, or that `repairBody` knows. */
const PART_TYPES: ReadonlySet<unknown> = new Set(['text', 'image_url', 'input_audio', 'file']);

/**
 * Repairs what only the contract of the service forbids, and other gateways do not: an assistant's
 * turn without content, and parts of other types. These are left out, and a field that no message
 * has stands for each, so that it is named as ignored.
 */
export function repairOpenBody(body: unknown): boolean {
  let hasChanges = repairBody(body);
  if (!isRecord(body)) return false;
  for (const message of listIn(body.messages).filter(isRecord)) {
    const { role, content, tool_calls } = message;
    if (role === 'assistant' && (content ?? null) === null && !tool_calls) {
      message.content = '';
      hasChanges = true;
    }
    const isUnknown = (part: unknown): part is Record<string, unknown> & { type: string } =>
      isRecord(part) && typeof part.type === 'string' && !PART_TYPES.has(part.type);
    const unknown = listIn(content).filter(isUnknown);
    if (unknown.length === 0) continue;
    hasChanges = true;
    message.content = listIn(content).filter((part) => !isUnknown(part));
    for (const { type } of unknown) message[`content[].${headerSafe(type)}`] = true;
  }
  return hasChanges;
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function repairMessage(message: unknown): boolean {
  if (!isRecord(message)) return false;
  // Null content stays, so that its error names null.
  let hasChanges = dropNulls(message, 'content');
  const { tool_calls, content, refusal } = message;
  if (Array.isArray(tool_calls) && tool_calls.length === 0) {
    delete message.tool_calls;
    hasChanges = true;
  }
  if (message.role === 'assistant' && !content && typeof refusal === 'string') {
    message.content = refusal;
    delete message.refusal;
    hasChanges = true;
  }
  for (const call of listIn(tool_calls)) if (dropNulls(call)) hasChanges = true;
  for (const part of listIn(content)) if (repairPart(part)) hasChanges = true;
  return hasChanges;
}

function repairPart(part: unknown): boolean {
  if (!isRecord(part)) return false;
  let hasChanges = dropNulls(part);
  for (const name of INNER) if (dropNulls(part[name])) hasChanges = true;
  const { type, refusal, image_url } = part;
  // Mistral's form.
  if (type === 'image_url' && typeof image_url === 'string' && ADDRESS.test(image_url)) {
    part.image_url = { url: image_url };
    return true;
  }
  if (type !== 'refusal' || typeof refusal !== 'string') return hasChanges;
  delete part.refusal;
  Object.assign(part, { type: 'text', text: refusal });
  return true;
}
