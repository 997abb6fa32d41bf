import { UpstreamError } from '../../core/upstream-error.js';
import { JsonEnd } from '../../lib/json-end.js';
import { isRecord, recordsIn } from '../../lib/objects.js';
import { newCallId } from '../../lib/tool-id.js';
import type { ReplyMemory } from '../../upstream/reply-body.js';
import type { ServerSentEvent } from '../../upstream/sse.js';
import { AnswerBounds, type AnswerLimits } from './reply-bounds.js';
import type { Limits } from './call.js';
import type { ChatCall, ChatDelta, StreamDecoder, ToolCallFragment } from './codec.js';

/**
 * Begins each tool call of a stream with its ID and whole name, in the order in which the calls
 * appear. Upstreams send a name after the first arguments, in pieces or with each fragment, and
 * some send no ID. A call that gets no name is left out. Throws `UpstreamError` for an answer that
 * is beyond its limits.
 */
export class NamedCallDecoder implements StreamDecoder {
  readonly #decoder: StreamDecoder;
  readonly #tools: readonly string[];
  readonly #held: HeldText;
  readonly #bounds: AnswerBounds;
  readonly #choices = new Map<number, NamedCalls>();

  constructor(
    decoder: StreamDecoder,
    { fields }: Pick<ChatCall, 'fields'>,
    limits: AnswerLimits & Pick<Limits, 'event_bytes'>,
  ) {
    this.#decoder = decoder;
    this.#tools = toolNamesIn(fields.tools);
    this.#held = new HeldText(limits.event_bytes);
    this.#bounds = new AnswerBounds(limits);
  }

  read(events: readonly ServerSentEvent[], deltas: ChatDelta[]): boolean {
    this.#bounds.addEvents(events.length);
    const start = deltas.length;
    try {
      return this.#decoder.read(events, deltas);
    } finally {
      this.#order(deltas, start);
    }
  }

  end(deltas: ChatDelta[]): void {
    const start = deltas.length;
    this.#decoder.end(deltas);
    this.#order(deltas, start);
  }

  /** Orders the calls of the deltas from `start` on, in place. */
  #order(deltas: ChatDelta[], start: number): void {
    let end = start;
    for (let at = start; at < deltas.length; at += 1) {
      const delta = deltas[at];
      if (delta && this.#keeps(delta)) deltas[end++] = delta;
    }
    deltas.length = end;
  }

  /** Replaces the fragments of a delta by those that can be sent now. False if nothing is left. */
  #keeps(delta: ChatDelta): boolean {
    const { index, tool_calls, reasoning_details, finish_reason } = delta;
    if (reasoning_details) this.#bounds.addReasoning(index ?? 0, reasoning_details);
    if (index === undefined || (!tool_calls && !this.#choices.has(index))) return true;
    const fragments = this.#callsOf(index).add(tool_calls, finish_reason !== undefined);
    if (fragments.length > 0) delta.tool_calls = fragments;
    else delete delta.tool_calls;
    return Object.keys(delta).length > 1;
  }

  #callsOf(index: number): NamedCalls {
    const known = this.#choices.get(index);
    if (known) return known;
    const calls = new NamedCalls(this.#tools, this.#held, this.#bounds);
    this.#choices.set(index, calls);
    return calls;
  }
}

/** The names of the tools that the upstream was offered. */
function toolNamesIn(tools: unknown): string[] {
  return recordsIn(tools).flatMap(({ function: offered }) => {
    const name = isRecord(offered) ? offered.name : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}

/** A tool call whose name may be incomplete. */
interface UnnamedCall {
  id: string;
  name: string;
  args: string;
  end: JsonEnd;
  is_named: boolean;
}

/** The tool calls of one streamed choice. */
class NamedCalls {
  readonly #tools: readonly string[];
  readonly #held: HeldText;
  readonly #bounds: AnswerBounds;
  /** By the upstream's index: the index among the calls that have begun, or what waits. */
  readonly #calls = new Map<number, number | UnnamedCall>();
  /** The calls that have not begun, with the upstream's index. */
  #waiting: [number, UnnamedCall][] = [];
  #begun = 0;
  /** The length of the arguments that wait. */
  #characters = 0;

  constructor(tools: readonly string[], held: HeldText, bounds: AnswerBounds) {
    this.#tools = tools;
    this.#held = held;
    this.#bounds = bounds;
  }

  /** The fragments that can be sent now: all of them at the last fragments of the choice. */
  add(fragments: readonly ToolCallFragment[] = [], isLast: boolean): ToolCallFragment[] {
    const ready: ToolCallFragment[] = [];
    for (const fragment of fragments) this.#addFragment(fragment, ready);
    if (isLast) this.#begin(ready, true);
    return ready;
  }

  #addFragment(fragment: ToolCallFragment, ready: ToolCallFragment[]): void {
    const { index } = fragment;
    const known = this.#calls.get(index);
    if (typeof known === 'number') {
      const { arguments: args } = fragment.function;
      if (args) ready.push({ index: known, function: { arguments: args } });
      return;
    }
    const call = known ?? { id: '', name: '', args: '', end: new JsonEnd(), is_named: false };
    if (!known) {
      this.#bounds.addCalls(1);
      this.#calls.set(index, call);
      this.#waiting.push([index, call]);
    }
    this.#fill(call, fragment);
    this.#begin(ready, false);
  }

  #fill(call: UnnamedCall, { id, function: { name, arguments: args = '' } }: ToolCallFragment) {
    const isAfterName = call.name !== '' && !name && args !== '';
    call.id ||= id ?? '';
    if (name) call.name = withPiece(call.name, name);
    call.args += args;
    call.end.read(args);
    const mayGoOn = this.#tools.some((tool) => tool !== call.name && tool.startsWith(call.name));
    const isWhole = call.end.isWhole && this.#tools.includes(call.name);
    call.is_named = call.name !== '' && (!mayGoOn || isAfterName || isWhole);
    this.#characters += OVERHEAD + args.length;
    this.#held.add(OVERHEAD + args.length);
  }

  #begin(ready: ToolCallFragment[], isLast: boolean): void {
    let count = 0;
    for (const [upstream_index, call] of this.#waiting) {
      if (!call.is_named && !isLast) break;
      count += 1;
      if (call.name === '') continue;
      const index = this.#begun;
      this.#begun += 1;
      this.#calls.set(upstream_index, index);
      const id = call.id || newCallId();
      const called = { name: call.name, arguments: call.args };
      ready.push({ index, id, type: 'function', function: called });
    }
    if (count > 0) this.#waiting = this.#waiting.slice(count);
    if (this.#waiting.length > 0) return;
    this.#held.add(-this.#characters);
    this.#characters = 0;
  }
}

/** What a piece of text takes beside its characters. */
const OVERHEAD = 64;

/** A name with its next piece. Some upstreams repeat the name, or send all of it again. */
function withPiece(name: string, piece: string): string {
  return piece.startsWith(name) ? piece : name + piece;
}

/** Counts the text that waits for other text of its stream. */
class HeldText {
  #characters = 0;
  #most = 0;

  constructor(
    private readonly max_characters: number,
    private readonly memory?: ReplyMemory,
  ) {}

  /** Throws `UpstreamError` if more would wait than may, as `ReplyMemory.grow` does otherwise. */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#characters > this.max_characters) {
      const message = `The upstream mixed its tool calls: over ${this.max_characters} bytes wait.`;
      throw new UpstreamError('broken', message);
    }
    if (this.#characters <= this.#most) return;
    this.memory?.grow(this.#characters - this.#most);
    this.#most = this.#characters;
  }
}

/** A tool call that waits until the calls before it have ended. */
interface WaitingCall {
  fragment: ToolCallFragment;
  characters: number;
}

/** Text that waits for a tool call to end. */
interface WaitingText {
  delta: ChatDelta;
  characters: number;
}

/** The order of one choice. */
interface Turns {
  index: number;
  /** The tool call that is being sent, and the end of its arguments. */
  open: number | undefined;
  end: JsonEnd;
  /** The calls that were sent. */
  ended: Set<number>;
  waiting: (WaitingCall | WaitingText)[];
  waiting_calls: Map<number, WaitingCall>;
}

/** The fields of a delta beside its text and what belongs to that. */
const OTHERS = new Set(['index', 'usage', 'tool_calls', 'finish_reason', 'stop_sequence']);

/**
 * Puts the tool calls of a stream one after another, for formats in which each part of an answer
 * ends before the next begins. While a call is open, all but its own fragments wait. It ends with
 * its arguments, or with the choice if they are not a JSON object.
 */
export class CallsInTurn {
  readonly #choices = new Map<number, Turns>();
  readonly #held: HeldText;

  constructor(max_held: number, memory: ReplyMemory | undefined) {
    this.#held = new HeldText(max_held, memory);
  }

  /** The deltas that can be sent now. */
  take(deltas: readonly ChatDelta[]): readonly ChatDelta[] {
    if (this.#choices.size === 0 && !deltas.some(({ tool_calls }) => tool_calls)) return deltas;
    const ready: ChatDelta[] = [];
    for (const delta of deltas) this.#take(delta, ready);
    return ready;
  }

  /** The deltas that wait. */
  get waiting(): ChatDelta[] {
    return [...this.#choices.values()].flatMap(({ index, waiting }) =>
      waiting.map((one) => ('delta' in one ? one.delta : { index, tool_calls: [one.fragment] })),
    );
  }

  #take(delta: ChatDelta, ready: ChatDelta[]): void {
    const { index, usage, tool_calls = [], finish_reason, stop_sequence } = delta;
    if (index === undefined) {
      ready.push(delta);
      return;
    }
    if (usage !== undefined) ready.push({ usage });
    const turns = this.#turnsOf(index);
    if (Object.keys(delta).some((name) => !OTHERS.has(name))) {
      const { usage: _, tool_calls: __, finish_reason: ___, stop_sequence: ____, ...text } = delta;
      this.#say(text, turns, ready);
    }
    for (const fragment of tool_calls) this.#call(fragment, turns, ready);
    if (finish_reason !== undefined) this.#goOn(turns, ready, true);
    if (finish_reason === undefined && stop_sequence === undefined) return;
    ready.push({
      index,
      ...(finish_reason !== undefined && { finish_reason }),
      ...(stop_sequence !== undefined && { stop_sequence }),
    });
  }

  #turnsOf(index: number): Turns {
    const known = this.#choices.get(index);
    if (known) return known;
    const none = { open: undefined, end: new JsonEnd(), ended: new Set<number>() };
    const turns: Turns = { index, ...none, waiting: [], waiting_calls: new Map() };
    this.#choices.set(index, turns);
    return turns;
  }

  #say(delta: ChatDelta, turns: Turns, ready: ChatDelta[]): void {
    if (isFree(turns)) {
      close(turns);
      ready.push(delta);
      return;
    }
    const characters = OVERHEAD + JSON.stringify(delta).length;
    this.#held.add(characters);
    turns.waiting.push({ delta, characters });
  }

  #call(fragment: ToolCallFragment, turns: Turns, ready: ChatDelta[]): void {
    const { index: call } = fragment;
    const { arguments: args = '' } = fragment.function;
    if (turns.ended.has(call)) {
      if (args.trim() === '') return;
      throw new UpstreamError('broken', 'The upstream went back to a tool call that had ended.');
    }
    if (call !== turns.open && !isFree(turns)) {
      this.#hold(fragment, args, turns);
      return;
    }
    if (call !== turns.open) open(call, turns);
    turns.end.read(args);
    ready.push({ index: turns.index, tool_calls: [fragment] });
    if (turns.waiting.length > 0) this.#goOn(turns, ready, false);
  }

  #hold(fragment: ToolCallFragment, args: string, turns: Turns): void {
    const characters = OVERHEAD + args.length;
    this.#held.add(characters);
    const known = turns.waiting_calls.get(fragment.index);
    if (known) {
      known.characters += characters;
      const { function: called } = known.fragment;
      called.arguments = (called.arguments ?? '') + args;
      return;
    }
    const waiting = { fragment: { ...fragment, function: { ...fragment.function } }, characters };
    turns.waiting_calls.set(fragment.index, waiting);
    turns.waiting.push(waiting);
  }

  /** Sends what waits, until a call is open again. At the end of the choice nothing waits on. */
  #goOn(turns: Turns, ready: ChatDelta[], isEnd: boolean): void {
    const { index } = turns;
    let sent = 0;
    for (const next of turns.waiting) {
      if (!isEnd && turns.open !== undefined && !turns.end.isWhole) break;
      sent += 1;
      this.#held.add(-next.characters);
      if ('delta' in next) {
        close(turns);
        ready.push(next.delta);
        continue;
      }
      open(next.fragment.index, turns);
      turns.end.read(next.fragment.function.arguments ?? '');
      ready.push({ index, tool_calls: [next.fragment] });
    }
    turns.waiting = turns.waiting.slice(sent);
  }
}

/** Whether the next call or text may be sent. */
function isFree({ open: call, end, waiting }: Turns): boolean {
  return waiting.length === 0 && (call === undefined || end.isWhole);
}

function close(turns: Turns): void {
  if (turns.open !== undefined) turns.ended.add(turns.open);
  turns.open = undefined;
}

function open(call: number, turns: Turns): void {
  close(turns);
  turns.open = call;
  turns.end = new JsonEnd();
  turns.waiting_calls.delete(call);
}
