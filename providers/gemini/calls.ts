import type { ToolCallFragment } from '../../src/modalities/chat/codec.js';
import { isRecord } from '../../src/lib/objects.js';
import { listIn, type GeminiObject } from '../gemini-wire.js';
import { newCallId, signedId } from '../../src/lib/tool-id.js';
import { addPartialArgs } from './partial-args.js';

/** The function calls of one choice. */
export interface Calls {
  /** How many have begun. */
  count: number;
  /** One whose arguments come piece by piece. */
  open: { fragment: ToolCallFragment; args: GeminiObject } | undefined;
}

export function newCalls(): Calls {
  return { count: 0, open: undefined };
}

/**
 * The calls that this part completes. Most calls arrive whole; one whose arguments arrive in pieces
 * is reported with the last piece. The ID of a call contains the signature that must come back.
 */
export function readCall(
  functionCall: GeminiObject,
  signature: unknown,
  calls: Calls,
): ToolCallFragment[] {
  const { id, name, args, willContinue } = functionCall;
  if (typeof name !== 'string' || name === '') {
    if (!calls.open) return [];
    addPartialArgs(calls.open.args, functionCall);
    return willContinue === true ? [] : closeCall(calls);
  }
  const completed = closeCall(calls);
  const own = typeof id === 'string' && id !== '' ? id : newCallId();
  const fragment: ToolCallFragment = {
    index: calls.count,
    id: typeof signature === 'string' && signature !== '' ? signedId(own, signature) : own,
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
  };
  calls.count += 1;
  const isInPieces = willContinue === true || listIn(functionCall, 'partialArgs').length > 0;
  if (!isInPieces) return [...completed, fragment];
  calls.open = { fragment, args: isRecord(args) ? { ...args } : {} };
  addPartialArgs(calls.open.args, functionCall);
  return willContinue === true ? completed : [...completed, ...closeCall(calls)];
}

/** Completes the open call, if there is one. */
export function closeCall(calls: Calls): ToolCallFragment[] {
  if (!calls.open) return [];
  const { fragment, args } = calls.open;
  calls.open = undefined;
  const { name = '' } = fragment.function;
  return [{ ...fragment, function: { name, arguments: JSON.stringify(args) } }];
}
