import { detailedUsageBody, usageBody, type Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { TokenUsage } from '../../../core/usage.js';
import type { ChatChoice, ChatDelta, ChatReply } from '../codec.js';
import type { Heading, Shown } from '../call.js';
import type { ChatStreamWriter } from './format.js';

const CONTRACT = new Set(['stop', 'length', 'content_filter']);

/** Words that upstreams use beside the contract's own. */
const SYNONYMS = new Map([
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
]);

/**
 * An upstream's finish reason in the contract's words (specification 2.4). `tool_calls` is said
 * where tool calls were given and not cut short, whatever the upstream says, and nowhere else.
 */
export function finishReason(said: string | null | undefined, hasToolCalls: boolean): string {
  const word = (said ?? 'stop').toLowerCase();
  const known = SYNONYMS.get(word) ?? (CONTRACT.has(word) ? word : 'stop');
  return known === 'stop' && hasToolCalls ? 'tool_calls' : known;
}

/** The answer to a chat call that is not streamed (specification 2.4). */
export function completion(heading: Heading, reply: ChatReply, usage: TokenUsage): object {
  const { id, created, model } = heading;
  const choices = reply.choices.map(choiceBody);
  return { id, object: 'text_completion', created, model, choices, usage: usageBody(usage) };
}

function choiceBody(choice: ChatChoice): object {
  const { index, content, tool_calls, reasoning_content, reasoning_details, logprobs } = choice;
  const message: Omit<ChatChoice, 'index' | 'finish_reason'> & { role: 'assistant' } = {
    role: 'assistant',
    content: content ?? (tool_calls ? null : ''),
  };
  if (reasoning_content !== undefined) message.reasoning_content = reasoning_content;
  if (reasoning_details) message.reasoning_details = reasoning_details;
  if (tool_calls) message.tool_calls = tool_calls;
  const finish_reason = finishReason(choice.finish_reason, tool_calls !== undefined);
  return logprobs === undefined
    ? { index, message, finish_reason }
    : { index, message, logprobs, finish_reason };
}

interface ChoiceState {
  text: string;
  hasToolCalls: boolean;
  finish: string | undefined;
}

const DONE = 'data: [DONE]\n\n';

/** An event of a stream: one `data:` line, LF only (specification 4.1). */
function event(data: string): string {
  return `data: ${data}\n\n`;
}

/** What differs between the contract's chunks and OpenAI's own. */
export interface ChunkWords {
  object: string;
  /** Further fields of the first delta of a choice. */
  opening?: Readonly<Record<string, unknown>>;
  /** Each choice says `logprobs: null` where it has none. */
  null_logprobs?: boolean;
  /** Left out: on the last chunk alone. `asked`: null on the others. `never`: nowhere. */
  usage?: 'asked' | 'never';
  /** Usage has its classes. */
  usage_details?: true;
}

/**
 * Turns the pieces of one streamed answer into the contract's chunks (specification 2.5): first a
 * delta with the role, then text, one finish reason a choice, and usage on the final chunk alone.
 */
export class ChunkWriter implements ChatStreamWriter {
  /** The last usage the upstream gave. */
  usage: unknown;
  /** Something was delivered. */
  hasSpoken = false;
  readonly #head: string;
  readonly #shown: Shown;
  readonly #opening: string;
  readonly #no_logprobs: string;
  readonly #tail: string;
  readonly #hasUsage: boolean;
  readonly #usageBody: typeof detailedUsageBody;
  readonly #choices = new Map<number, ChoiceState>();

  constructor({ id, created, model }: Heading, shown: Shown, words: ChunkWords) {
    this.#shown = shown;
    this.#opening = JSON.stringify({ role: 'assistant', ...words.opening });
    this.#no_logprobs = words.null_logprobs ? '"logprobs":null,' : '';
    this.#tail = words.usage === 'asked' ? ',"usage":null' : '';
    this.#hasUsage = words.usage !== 'never';
    this.#usageBody = words.usage_details ? detailedUsageBody : usageBody;
    const heading = { id, object: words.object, created, model };
    this.#head = `${JSON.stringify(heading).slice(0, -1)},"choices":[`;
  }

  /** The events for some pieces, as one text; empty where there is nothing to say. */
  frame(pieces: readonly ChatDelta[]): string {
    this.noteUsage(pieces);
    let text = '';
    for (const piece of pieces) {
      const { index } = piece;
      if (index !== undefined && index < this.#shown.choices)
        text += this.#framePiece(index, piece);
    }
    return text;
  }

  /** Notes the usage in pieces that nobody is shown any more. */
  noteUsage(pieces: readonly ChatDelta[]): void {
    for (const { usage } of pieces) {
      if (usage !== undefined && usage !== null) this.usage = usage;
    }
  }

  /** The final chunk and the end of the stream. They go out only after the charge is committed. */
  end({ usage }: Bill): string {
    if (!this.#hasUsage) return DONE;
    return event(`${this.#head}],"usage":${JSON.stringify(this.#usageBody(usage))}}`) + DONE;
  }

  error(error: GatewayError): string {
    return event(JSON.stringify(error));
  }

  /** What was delivered so far, choice by choice, for counting its tokens. */
  texts(): string[] {
    return [...this.#choices.values()].map(({ text }) => text);
  }

  #framePiece(index: number, piece: ChatDelta): string {
    let events = '';
    let choice = this.#choices.get(index);
    if (!choice) {
      choice = { text: '', hasToolCalls: false, finish: undefined };
      this.#choices.set(index, choice);
      events += this.#chunk(index, this.#opening, null);
    }
    if (choice.finish !== undefined) return events;
    const delta = deltaOf(piece, choice, this.#shown);
    const logprobs = this.#shown.logprobs ? piece.logprobs : undefined;
    if (delta) {
      if (choice.text !== '') this.hasSpoken = true;
      events += this.#chunk(index, delta, null, logprobs);
    }
    if (piece.finish_reason !== undefined) {
      choice.finish = finishReason(piece.finish_reason, choice.hasToolCalls);
      events += this.#chunk(index, '{}', choice.finish);
    }
    return events;
  }

  #chunk(index: number, delta: string, finish: string | null, logprobs?: unknown): string {
    const extra =
      logprobs === undefined ? this.#no_logprobs : `"logprobs":${JSON.stringify(logprobs)},`;
    const reason = finish === null ? 'null' : `"${finish}"`;
    return event(
      `${this.#head}{"index":${index},"delta":${delta},${extra}` +
        `"finish_reason":${reason}}]${this.#tail}}`,
    );
  }
}

/**
 * The delta as JSON, empty where the piece says nothing new; notes the text that the choice has
 * said. Details of reasoning repeat its text, or hold what only the upstream reads.
 */
function deltaOf(piece: ChatDelta, choice: ChoiceState, shown: Shown): string {
  const { content } = piece;
  const reasoning = shown.reasoning ? piece.reasoning_content : undefined;
  const details = shown.reasoning ? piece.reasoning_details : undefined;
  const calls = shown.tools && piece.tool_calls?.length ? piece.tool_calls : undefined;
  if (content && !reasoning && !details && !calls) {
    choice.text += content;
    return `{"content":${JSON.stringify(content)}}`;
  }
  if (!content && !reasoning && !details?.length && !calls) return '';
  choice.text += `${content ?? ''}${reasoning ?? ''}`;
  for (const { function: call } of calls ?? []) {
    choice.text += `${call.name ?? ''}${call.arguments ?? ''}`;
  }
  if (calls) choice.hasToolCalls = true;
  return JSON.stringify({
    ...(content && { content }),
    ...(reasoning && { reasoning_content: reasoning }),
    ...(details?.length && { reasoning_details: details }),
    ...(calls && { tool_calls: calls }),
  });
}
