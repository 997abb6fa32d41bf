import type { ChatWork, ClientTools } from '../call.js';
import type { ToolCall, ToolCallFragment } from '../codec.js';
import { customInput } from './responses-tools.js';

/** How the calls of one streamed choice are said. */
interface CallDeltas {
  /** The fields of a delta with new pieces of calls; undefined where they say nothing yet. */
  say(pieces: readonly ToolCallFragment[]): object | undefined;
  /** The fields of a last delta, before the finish reason; undefined where nothing is left. */
  end(): object | undefined;
}

/** How tool calls are said to a client, by the words in which it offered its tools. */
export interface CallWords {
  readonly finish_reason: 'tool_calls' | 'function_call';
  /** The fields of a message that makes these calls. */
  message(calls: readonly ToolCall[]): object;
  /** New for each choice of a stream. */
  deltas(): CallDeltas;
}

/** Functions that were offered as `tools`: their calls need no other words. */
export const TOOL_CALLS: CallWords = {
  finish_reason: 'tool_calls',
  message: (tool_calls) => ({ tool_calls }),
  deltas: () => ({ say: (tool_calls) => ({ tool_calls }), end: () => undefined }),
};

/** A client that offered `functions` knows one call an answer. */
const FUNCTION_CALL: CallWords = {
  finish_reason: 'function_call',
  message: ([call]) => ({ function_call: call?.function }),
  deltas: () => ({
    say: (pieces) => {
      const said = pieces.filter(({ index }) => index === 0).map((piece) => piece.function);
      if (said.length === 0) return undefined;
      const name = said.find((one) => one.name !== undefined)?.name;
      const text = said.map((one) => one.arguments ?? '').join('');
      return { function_call: { ...(name !== undefined && { name }), arguments: text } };
    },
    end: () => undefined,
  }),
};

/** The words for the calls of an answer to this request. */
export function callWords({ tools, has_functions }: ChatWork): CallWords {
  if (has_functions) return FUNCTION_CALL;
  const hasCustom = tools && [...tools.values()].some(({ is_custom }) => is_custom);
  return hasCustom ? customWords(tools) : TOOL_CALLS;
}

function customWords(tools: ClientTools): CallWords {
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

/** Tells the input of a custom tool as a whole: it stands inside the arguments of a function. */
class CustomDeltas implements CallDeltas {
  readonly #open = new Map<number, string>();

  constructor(private readonly isCustom: (name: string | undefined) => boolean) {}

  say(pieces: readonly ToolCallFragment[]): object | undefined {
    const tool_calls = pieces.flatMap((piece) => this.#say(piece) ?? []);
    return tool_calls.length > 0 ? { tool_calls } : undefined;
  }

  end(): object | undefined {
    const tool_calls = Array.from(this.#open, ([index, args]) => ({
      index,
      custom: { input: customInput(args) },
    }));
    return tool_calls.length > 0 ? { tool_calls } : undefined;
  }

  #say(piece: ToolCallFragment): object | undefined {
    const { index, id, function: called } = piece;
    const begun = this.#open.get(index);
    if (begun === undefined && !this.isCustom(called.name)) return piece;
    this.#open.set(index, (begun ?? '') + (called.arguments ?? ''));
    if (begun !== undefined) return undefined;
    return { index, id, type: 'custom', custom: { name: called.name, input: '' } };
  }
}
