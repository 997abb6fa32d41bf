import { dropNulls } from '../../../lib/drop-nulls.js';
import { isRecord } from '../../../lib/is-record.js';
import { mendCalls } from './openai-history.js';

/** How the address of an image begins. */
const ADDRESS = /^(https?|data):/iu;

/** Objects inside a body that are the contract's own: null in one of their fields is no value. */
const INNER = ['image_url', 'input_audio', 'file'];

/**
 * Mends what clients send that the contract does not name, but that can only mean one thing: null
 * in an optional field, an empty list of tool calls, the refusal of an earlier answer, the address
 * of an image as a text, a call in older words. Changes the body in place; false where there was
 * nothing to mend.
 */
export function tidy(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { messages, tools } = body;
  let isMended = dropNulls(body);
  if (dropNulls(body['stream_options'])) isMended = true;
  for (const message of listIn(messages)) if (tidyMessage(message)) isMended = true;
  for (const tool of listIn(tools)) {
    if (dropNulls(tool)) isMended = true;
    if (isRecord(tool) && dropNulls(tool['custom'])) isMended = true;
  }
  if (mendCalls(listIn(messages))) isMended = true;
  return isMended;
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function tidyMessage(message: unknown): boolean {
  if (!isRecord(message)) return false;
  // Content that is null is told as such, where it must not be.
  let isMended = dropNulls(message, 'content');
  const { tool_calls, content, refusal } = message;
  if (Array.isArray(tool_calls) && tool_calls.length === 0) {
    delete message['tool_calls'];
    isMended = true;
  }
  if (message['role'] === 'assistant' && !content && typeof refusal === 'string') {
    message['content'] = refusal;
    delete message['refusal'];
    isMended = true;
  }
  for (const call of listIn(tool_calls)) if (dropNulls(call)) isMended = true;
  for (const part of listIn(content)) if (tidyPart(part)) isMended = true;
  return isMended;
}

function tidyPart(part: unknown): boolean {
  if (!isRecord(part)) return false;
  let isMended = dropNulls(part);
  for (const name of INNER) if (dropNulls(part[name])) isMended = true;
  const { type, refusal, image_url } = part;
  // Mistral's spelling.
  if (type === 'image_url' && typeof image_url === 'string' && ADDRESS.test(image_url)) {
    part['image_url'] = { url: image_url };
    return true;
  }
  if (type !== 'refusal' || typeof refusal !== 'string') return isMended;
  delete part['refusal'];
  Object.assign(part, { type: 'text', text: refusal });
  return true;
}
