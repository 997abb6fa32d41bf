import type { ToolCall, ToolCallFragment } from '../../src/modalities/chat/codec.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { newCallId, signedId } from '../../src/lib/tool-id.js';
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

/** One call of a stream, as far as its fragments have arrived. */
interface OpenCall {
  index: number;
  /** The last piece of its name. */
  name: string;
  /** It has an ID. */
  is_identified: boolean;
  /** It is of a custom tool, and its arguments are open. */
  isCustom: boolean;
}

/** The tool calls of one streamed choice. */
export class OpenCalls {
  readonly #calls: OpenCall[] = [];
  readonly #by_id = new Map<string, OpenCall>();
  readonly #by_index = new Map<number, OpenCall>();

  /** The fragments of one delta, with indexes from 0 in the order of their first appearance. */
  fragmentsIn(value: unknown): ToolCallFragment[] {
    return recordsIn(value).map((fragment) => this.#read(fragment));
  }

  /** The ends of the arguments that are still open. */
  ends(): ToolCallFragment[] {
    return this.#calls
      .filter(({ isCustom }) => isCustom)
      .map(({ index }) => ({ index, function: { arguments: END } }));
  }

  #read(fragment: Record<string, unknown>): ToolCallFragment {
    const { name, args } = functionIn(fragment);
    const id = idIn(fragment);
    const known = this.#find(fragment.index, id, name);
    const call = known ?? this.#open(customIn(fragment) !== undefined);
    if (isIndex(fragment.index) && !known) this.#by_index.set(fragment.index, call);
    const isNameNew = name !== '' && name !== call.name;
    if (isNameNew) call.name = name;
    const isIdNew = !call.is_identified && (id !== '' || signatureIn(fragment) !== undefined);
    call.is_identified ||= isIdNew;
    if (isIdNew && id !== '') this.#by_id.set(id, call);
    return {
      index: call.index,
      ...(isIdNew && { id: outerId(fragment) }),
      ...(!known && { type: 'function' as const }),
      function: {
        ...(isNameNew && { name }),
        arguments: call.isCustom && !known ? BEGIN + args : args,
      },
    };
  }

  #open(isCustom: boolean): OpenCall {
    const call = { index: this.#calls.length, name: '', is_identified: false, isCustom };
    this.#calls.push(call);
    return call;
  }

  /** The call that a fragment continues; undefined if it begins a new one. */
  #find(index: unknown, id: string, name: string): OpenCall | undefined {
    const byId = id === '' ? undefined : this.#by_id.get(id);
    if (byId) return byId;
    if (isIndex(index)) {
      const byIndex = this.#by_index.get(index);
      // Some servers number every call 0: another id that comes with a name is another call.
      return byIndex?.name && id !== '' && name !== '' ? undefined : byIndex;
    }
    // Without either, a fragment with a name begins a call, and any other continues the last one.
    const last = this.#calls.at(-1);
    return id !== '' || (name !== '' && last?.name) ? undefined : last;
  }
}

function functionIn(call: Record<string, unknown>): { name: string; args: string } {
  const custom = customIn(call);
  if (custom) {
    return {
      name: typeof custom.name === 'string' ? custom.name : '',
      args: pieceOf(custom),
    };
  }
  const called = isRecord(call.function) ? call.function : {};
  const { name, arguments: args } = called;
  return {
    name: typeof name === 'string' ? name : '',
    args: typeof args === 'string' ? args : isRecord(args) ? JSON.stringify(args) : '',
  };
}

function idIn(call: Record<string, unknown>): string {
  return typeof call.id === 'string' ? call.id : '';
}

/** The ID for the client. A missing one is made, and a signature is added to it. */
function outerId(call: Record<string, unknown>): string {
  const id = idIn(call) || newCallId();
  const signature = signatureIn(call);
  return signature === undefined ? id : signedId(id, signature);
}
