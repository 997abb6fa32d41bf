import { isRecord } from '../../../lib/objects.js';

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
export function rewriteCalls(messages: readonly unknown[]): boolean {
  const waiting: Waiting[] = [];
  let hasChanges = false;
  for (const [at, message] of messages.entries()) {
    if (!isRecord(message)) continue;
    const hasChanged =
      rewriteFunctionCall(message, at, waiting) ||
      rewriteResult(message, waiting) ||
      rewriteCustomCalls(message.tool_calls);
    hasChanges ||= hasChanged;
  }
  return hasChanges;
}

function rewriteFunctionCall(message: Fields, at: number, waiting: Waiting[]): boolean {
  const { role, function_call: call, tool_calls } = message;
  if (role !== 'assistant' || !isRecord(call) || tool_calls !== undefined) return false;
  const { name, arguments: args } = call;
  if (typeof name !== 'string' || typeof args !== 'string') return false;
  const id = `call_${at}`;
  delete message.function_call;
  message.tool_calls = [{ id, type: 'function', function: { name, arguments: args } }];
  waiting.push({ id, name });
  return true;
}

function rewriteResult(message: Fields, waiting: Waiting[]): boolean {
  const { role, name, content } = message;
  if (role !== 'function' || typeof name !== 'string') return false;
  const at = waiting.findIndex((call) => call.name === name);
  const [call] = at === -1 ? [] : waiting.splice(at, 1);
  delete message.name;
  Object.assign(message, { role: 'tool', tool_call_id: call?.id ?? name, content: content ?? '' });
  return true;
}

function rewriteCustomCalls(calls: unknown): boolean {
  if (!Array.isArray(calls)) return false;
  let hasChanges = false;
  for (const call of calls.filter(isRecord)) {
    const { type, custom } = call;
    if (type !== 'custom' || !isRecord(custom)) continue;
    const { name, input } = custom;
    if (typeof name !== 'string' || typeof input !== 'string') continue;
    delete call.custom;
    const called = { name, arguments: JSON.stringify({ input }) };
    Object.assign(call, { type: 'function', function: called });
    hasChanges = true;
  }
  return hasChanges;
}
