import type {
  ChatChoice,
  ChatDelta,
  ChatReply,
  StreamDecoder,
  ToolCall,
  ToolCallFragment,
} from './codec.js';
import type { ToolTranslation } from './tool-translation.js';

/** A whole answer whose calls have the client's own names. */
export function ownReply(reply: ChatReply, tools: ToolTranslation): ChatReply {
  return { ...reply, choices: reply.choices.map((choice) => ownChoice(choice, tools)) };
}

function ownChoice(choice: ChatChoice, tools: ToolTranslation): ChatChoice {
  const { tool_calls } = choice;
  return tool_calls
    ? { ...choice, tool_calls: tool_calls.map((call) => ownCall(call, tools)) }
    : choice;
}

function ownCall({ function: called, ...call }: ToolCall, tools: ToolTranslation): ToolCall {
  const name = tools.names.own(called.name);
  return { ...call, function: { name, arguments: tools.ownArguments(name, called.arguments) } };
}

/**
 * Decodes a stream whose calls have the client's own names. A call that has keys of arguments to
 * rename is kept back until its choice ends, and then comes as a whole.
 */
export class OwnStream implements StreamDecoder {
  /** The calls that are kept back, by the index of the choice, and their own. */
  readonly #calls = new Map<number, Map<number, ToolCallFragment>>();

  constructor(
    private readonly decoder: StreamDecoder,
    private readonly tools: ToolTranslation,
  ) {}

  read(events: Parameters<StreamDecoder['read']>[0], deltas: ChatDelta[]): boolean {
    const from = deltas.length;
    try {
      return this.decoder.read(events, deltas);
    } finally {
      // The deltas before an error are delivered too.
      this.#translate(deltas, from);
    }
  }

  end(deltas: ChatDelta[]): void {
    const from = deltas.length;
    this.decoder.end(deltas);
    this.#translate(deltas, from);
    for (const index of this.#calls.keys()) {
      const tool_calls = this.#release(index);
      if (tool_calls.length > 0) deltas.push({ index, tool_calls });
    }
  }

  #translate(deltas: ChatDelta[], from: number): void {
    for (let at = from; at < deltas.length; at += 1) {
      const delta = deltas[at];
      if (delta?.index === undefined) continue;
      const { index, tool_calls, ...rest } = delta;
      const own = (tool_calls ?? []).flatMap((fragment) => this.#own(fragment, index));
      if (delta.finish_reason !== undefined) own.push(...this.#release(index));
      if (!tool_calls && own.length === 0) continue;
      deltas[at] = { index, ...rest, ...(own.length > 0 && { tool_calls: own }) };
    }
  }

  /** The fragment with the client's name; none if its call is kept back. */
  #own(fragment: ToolCallFragment, choice: number): ToolCallFragment[] {
    const { function: called } = fragment;
    const name = called.name === undefined ? undefined : this.tools.names.own(called.name);
    const own: ToolCallFragment =
      name === undefined ? fragment : { ...fragment, function: { ...called, name } };
    if (!this.tools.has_properties) return [own];
    const calls = this.#calls.get(choice) ?? new Map<number, ToolCallFragment>();
    this.#calls.set(choice, calls);
    const known = calls.get(fragment.index);
    // The first fragment of each call has its name.
    if (!known && (name === undefined || !this.tools.hasProperties(name))) return [own];
    calls.set(fragment.index, known ? joinedFragment(known, own) : own);
    return [];
  }

  /** The calls of a choice that were kept back. */
  #release(choice: number): ToolCallFragment[] {
    const calls = [...(this.#calls.get(choice)?.values() ?? [])];
    this.#calls.delete(choice);
    return calls.map((whole) => this.#withOwnKeys(whole));
  }

  #withOwnKeys(whole: ToolCallFragment): ToolCallFragment {
    const { name = '', arguments: args = '' } = whole.function;
    const own = this.tools.ownArguments(name, args);
    return { ...whole, function: { ...whole.function, arguments: own } };
  }
}

function joinedFragment(whole: ToolCallFragment, more: ToolCallFragment): ToolCallFragment {
  const args = (whole.function.arguments ?? '') + (more.function.arguments ?? '');
  return { ...whole, function: { ...whole.function, arguments: args } };
}
