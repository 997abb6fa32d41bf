import type { ChatRequest, ClientTools } from '../call.js';
import type { ToolCall, ToolCallFragment } from '../codec.js';
import { customInput } from '../../../lib/tool-arguments.js';

/** Writes the tool calls of one streamed choice. */
interface CallDeltas {
  /** The fields of a delta with fragments of calls; undefined if there is nothing to send yet. */
  write(fragments: readonly ToolCallFragment[]): object | undefined;
  /** The fields of a last delta before the finish reason; undefined if nothing is left to send. */
  end(): object | undefined;
}

/** How tool calls are written for a client: in the form in which it offered its tools. */
export interface CallFormat {
  readonly finish_reason: 'tool_calls' | 'function_call';
  /** The fields of a message with these calls. */
  message(calls: readonly ToolCall[]): object;
  /** Makes a writer for one choice of a stream. */
  deltas(): CallDeltas;
}

/** For functions that were offered as `tools`: their calls stay unchanged. */
export const TOOL_CALLS: CallFormat = {
  finish_reason: 'tool_calls',
  message: (tool_calls) => ({ tool_calls }),
  deltas: () => ({ write: (tool_calls) => ({ tool_calls }), end: () => undefined }),
};

/** For a client that offered `functions`: it knows only one call per answer. */
const FUNCTION_CALL: CallFormat = {
  finish_reason: 'function_call',
  message: ([call]) => ({ function_call: call?.function }),
  deltas: () => ({
    write: (fragments) => {
      const functions = fragments
        .filter(({ index }) => index === 0)
        .map((fragment) => fragment.function);
      if (functions.length === 0) return undefined;
      const name = functions.find((one) => one.name !== undefined)?.name;
      const text = functions.map((one) => one.arguments ?? '').join('');
      return { function_call: { ...(name !== undefined && { name }), arguments: text } };
    },
    end: () => undefined,
  }),
};

/** Chooses how the tool calls of an answer are written. */
export function callFormat({ tools, has_functions }: ChatRequest): CallFormat {
  if (has_functions) return FUNCTION_CALL;
  const hasCustom = tools && [...tools.values()].some(({ is_custom }) => is_custom);
  return hasCustom ? customFormat(tools) : TOOL_CALLS;
}

function customFormat(tools: ClientTools): CallFormat {
  const isCustom = (name: string | undefined): boolean => tools.get(name ?? '')?.is_custom ?? false;
  return {
    ...TOOL_CALLS,
    message: (calls) => ({
      tool_calls: calls.map((call) => (isCustom(call.function.name) ? customCall(call) : call)),
    }),
    deltas: () => new CustomDeltas(isCustom),
  };
}

function customCall({ id, function: { name, arguments: args } }: ToolCall): object {
  return { id, type: 'custom', custom: { name, input: customInput(args) } };
}

/** Sends the input of a custom tool as a whole, as it is inside the arguments of a function. */
class CustomDeltas implements CallDeltas {
  readonly #open = new Map<number, string>();

  constructor(private readonly isCustom: (name: string | undefined) => boolean) {}

  write(fragments: readonly ToolCallFragment[]): object | undefined {
    const tool_calls = fragments.flatMap((fragment) => this.#writeFragment(fragment) ?? []);
    return tool_calls.length > 0 ? { tool_calls } : undefined;
  }

  end(): object | undefined {
    const tool_calls = Array.from(this.#open, ([index, args]) => ({
      index,
      custom: { input: customInput(args) },
    }));
    return tool_calls.length > 0 ? { tool_calls } : undefined;
  }

  #writeFragment(fragment: ToolCallFragment): object | undefined {
    const { index, id, function: called } = fragment;
    const begun = this.#open.get(index);
    if (begun === undefined && !this.isCustom(called.name)) return fragment;
    this.#open.set(index, (begun ?? '') + (called.arguments ?? ''));
    if (begun !== undefined) return undefined;
    return { index, id, type: 'custom', custom: { name: called.name, input: '' } };
  }
}
