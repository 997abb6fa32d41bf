import { isRecord } from '../../../lib/is-record.js';

type Fields = Record<string, unknown>;

/** A call without a result so far. */
interface Waiting {
  id: string;
  name: string;
}

/**
 * Rewrites OpenAI's other forms of calls and results in earlier turns as tool calls:
 * `function_call` and the role `function`, which have no IDs, and calls of custom tools. Changes
 * the messages in place; returns false if there was nothing to change.
 */
export function mendCalls(messages: readonly unknown[]): boolean {
  const waiting: Waiting[] = [];
  let isMended = false;
  for (const [at, message] of messages.entries()) {
    if (!isRecord(message)) continue;
    const hasChanged =
      mendFunctionCall(message, at, waiting) ||
      mendResult(message, waiting) ||
      mendCustomCalls(message['tool_calls']);
    isMended ||= hasChanged;
  }
  return isMended;
}

function mendFunctionCall(message: Fields, at: number, waiting: Waiting[]): boolean {
  const { role, function_call: call, tool_calls } = message;
  if (role !== 'assistant' || !isRecord(call) || tool_calls !== undefined) return false;
  const { name, arguments: args } = call;
  if (typeof name !== 'string' || typeof args !== 'string') return false;
  const id = `call_${at}`;
  delete message['function_call'];
  message['tool_calls'] = [{ id, type: 'function', function: { name, arguments: args } }];
  waiting.push({ id, name });
  return true;
}

function mendResult(message: Fields, waiting: Waiting[]): boolean {
  const { role, name, content } = message;
  if (role !== 'function' || typeof name !== 'string') return false;
  const at = waiting.findIndex((call) => call.name === name);
  const [call] = at === -1 ? [] : waiting.splice(at, 1);
  delete message['name'];
  Object.assign(message, { role: 'tool', tool_call_id: call?.id ?? name, content: content ?? '' });
  return true;
}

function mendCustomCalls(calls: unknown): boolean {
  if (!Array.isArray(calls)) return false;
  let isMended = false;
  for (const call of calls.filter(isRecord)) {
    const { type, custom } = call;
    if (type !== 'custom' || !isRecord(custom)) continue;
    const { name, input } = custom;
    if (typeof name !== 'string' || typeof input !== 'string') continue;
    delete call['custom'];
    const called = { name, arguments: JSON.stringify({ input }) };
    Object.assign(call, { type: 'function', function: called });
    isMended = true;
  }
  return isMended;
}
