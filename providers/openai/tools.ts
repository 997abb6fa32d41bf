import type { ToolCall, ToolCallFragment } from '../../src/modalities/chat/codec.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { signedId } from '../../src/lib/tool-id.js';
import { isIndex } from './answer.js';
import { BEGIN, customIn, END, functionOf, pieceOf } from './custom-tools.js';
import { signatureIn } from './messages.js';

/** The tool calls of a whole answer. Calls without a name are left out. */
export function toolCallsIn(value: unknown): ToolCall[] {
  return recordsIn(value).flatMap((call): ToolCall[] => {
    const custom = functionOf(call);
    if (custom) return [{ id: outerId(call), type: 'function', function: custom }];
    const { name, args } = functionIn(call);
    if (name === '') return [];
    return [{ id: outerId(call), type: 'function', function: { name, arguments: args || '{}' } }];
  });
}

/** One call of a stream: its keys so far, and whether it has its name yet. */
export interface OpenCall {
  upstream_index: number | undefined;
  id: string;
  isNamed: boolean;
  /** It is of a custom tool, and its arguments are open. */
  isCustom: boolean;
}

/**
 * The fragments of one delta, with indexes from 0 in the order of their first appearance. A missing
 * ID or type is added; a name is sent once.
 */
export function fragmentsIn(value: unknown, calls: OpenCall[]): ToolCallFragment[] {
  return recordsIn(value).map((fragment) => {
    const { name, args } = functionIn(fragment);
    const id = idIn(fragment);
    const known = findCall(calls, fragment['index'], id, name);
    const isCustom = known ? known.isCustom : customIn(fragment) !== undefined;
    const call = known ?? { upstream_index: undefined, id, isNamed: false, isCustom };
    if (!known) {
      if (isIndex(fragment['index'])) call.upstream_index = fragment['index'];
      calls.push(call);
    }
    const isNameNew = name !== '' && !call.isNamed;
    call.isNamed ||= isNameNew;
    return {
      index: calls.indexOf(call),
      ...(!known && { id: outerId(fragment), type: 'function' }),
      function: {
        ...(isNameNew && { name }),
        arguments: isCustom && !known ? BEGIN + args : args,
      },
    };
  });
}

/** The ends of the arguments that are still open. */
export function endsOf(calls: readonly OpenCall[]): ToolCallFragment[] {
  return calls.flatMap(({ isCustom }, index) =>
    isCustom ? [{ index, function: { arguments: END } }] : [],
  );
}

/** The call that a fragment continues; undefined if it begins a new one. */
function findCall(
  calls: readonly OpenCall[],
  index: unknown,
  id: string,
  name: string,
): OpenCall | undefined {
  const byId = id === '' ? undefined : calls.findLast((call) => call.id === id);
  if (byId) return byId;
  if (isIndex(index)) {
    const byIndex = calls.findLast((call) => call.upstream_index === index);
    // Some servers number every call 0: another id that comes with a name is another call.
    return byIndex?.isNamed && id !== '' && name !== '' ? undefined : byIndex;
  }
  // Without either, a fragment with a name begins a call, and any other continues the last one.
  const last = calls.at(-1);
  return id !== '' || (name !== '' && last?.isNamed) ? undefined : last;
}

function functionIn(call: Record<string, unknown>): { name: string; args: string } {
  const custom = customIn(call);
  if (custom) {
    return {
      name: typeof custom['name'] === 'string' ? custom['name'] : '',
      args: pieceOf(custom),
    };
  }
  const called = isRecord(call['function']) ? call['function'] : {};
  const { name, arguments: args } = called;
  return {
    name: typeof name === 'string' ? name : '',
    args: typeof args === 'string' ? args : isRecord(args) ? JSON.stringify(args) : '',
  };
}

function idIn(call: Record<string, unknown>): string {
  return typeof call['id'] === 'string' ? call['id'] : '';
}

/** The ID for the client. A missing one is made, and a signature is added to it. */
function outerId(call: Record<string, unknown>): string {
  const id = idIn(call) || newId();
  const signature = signatureIn(call);
  return signature === undefined ? id : signedId(id, signature);
}

function newId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
}
