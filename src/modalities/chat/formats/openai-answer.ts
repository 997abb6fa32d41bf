import { detailedUsageBody, usageBody, type Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { TokenUsage } from '../../../core/usage.js';
import { formatDollars } from '../../../lib/money.js';
import type { ChatChoice, ChatDelta, ChatReply } from '../codec.js';
import type { AnswerHead, ChatRequest, VisibleParts } from '../call.js';
import { callFormat, TOOL_CALLS, type CallFormat } from './openai-calls.js';
import type { ChoiceText } from '../usage-report.js';
import type { ChatStreamWriter } from './format.js';

/**
 * The common part of stream writers: it drops surplus choices, and keeps the delivered text of each
 * choice.
 */
export abstract class EventWriter implements ChatStreamWriter {
  hasSpoken = false;
  readonly #texts = new Map<number, string>();
  /** The events before a fault that `frame` threw. */
  #unsent = '';

  constructor(protected readonly visible: VisibleParts) {}

  get shows_reasoning(): boolean {
    return this.visible.reasoning;
  }

  frame(deltas: readonly ChatDelta[]): string {
    let events = '';
    try {
      for (const delta of deltas) {
        const { index } = delta;
        if (index === undefined) this.noteOthers(delta);
        if (index === undefined || index >= this.visible.choices) continue;
        events += this.begin();
        events += this.writeDelta(delta, index);
      }
    } catch (error) {
      this.#unsent = events;
      throw error;
    }
    return events;
  }

  texts(): ChoiceText[] {
    return Array.from(this.#texts, ([index, text]) => ({ index, text }));
  }

  abstract end(bill: Bill): string;

  error(error: GatewayError): string {
    return this.#unsent + this.writeError(error);
  }

  /** The events that begin every stream; empty once they are written. */
  protected begin(): string {
    return '';
  }

  /** Notes further fields of the answer, for an API that has a place for them. */
  protected noteOthers(_delta: ChatDelta): void {}

  /** The event of an error. */
  protected abstract writeError(error: GatewayError): string;

  /** The events for a delta of the choice `index`; empty if it adds nothing. */
  protected abstract writeDelta(delta: ChatDelta, index: number): string;

  /** Records text of a choice that is delivered, and so charged. */
  protected delivered(text: string, index = 0): void {
    this.#texts.set(index, (this.#texts.get(index) ?? '') + text);
    this.hasSpoken = true;
  }
}

/** An event with its name on a line of its own. */
export function namedEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

const CONTRACT = new Set(['stop', 'length', 'content_filter']);

/** Finish reasons of upstreams that are not the contract's. */
const SYNONYMS = new Map([
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
]);

/**
 * Maps an upstream's finish reason to one of the contract's (specification 2.4). An answer with
 * tool calls that was not cut short has `calling` (`tool_calls`), and no other answer has it,
 * whatever the upstream reports.
 */
export function finishReason(
  upstream_reason: string | null | undefined,
  hasToolCalls: boolean,
  calling = TOOL_CALLS.finish_reason,
): string {
  const word = (upstream_reason ?? 'stop').toLowerCase();
  const known = SYNONYMS.get(word) ?? (CONTRACT.has(word) ? word : 'stop');
  return known === 'stop' && hasToolCalls ? calling : known;
}

/**
 * The answer to a chat call that is not streamed (specification 2.4). `request` says how its client
 * wants tool calls; by default as `tool_calls`.
 */
export function completion(
  head: AnswerHead,
  reply: ChatReply,
  usage: TokenUsage,
  request?: ChatRequest,
): object {
  const { id, created, model } = head;
  const choices = reply.choices.map((choice) => choiceBody(choice, request));
  return { id, object: 'text_completion', created, model, choices, usage: usageBody(usage) };
}

function choiceBody(choice: ChatChoice, request: ChatRequest | undefined): object {
  const { index, content, tool_calls, reasoning_content, reasoning_details, logprobs } = choice;
  const message: Omit<ChatChoice, 'index' | 'finish_reason' | 'tool_calls'> & {
    role: 'assistant';
  } = {
    role: 'assistant',
    content: content ?? (tool_calls ? null : ''),
  };
  if (reasoning_content !== undefined) message.reasoning_content = reasoning_content;
  if (reasoning_details) message.reasoning_details = reasoning_details;
  const calls = tool_calls && (request ? callFormat(request) : TOOL_CALLS);
  if (calls) Object.assign(message, calls.message(tool_calls));
  const finish_reason = finishReason(
    choice.finish_reason,
    calls !== undefined,
    calls?.finish_reason,
  );
  return logprobs === undefined
    ? { index, message, finish_reason }
    : { index, message, logprobs, finish_reason };
}

interface ChoiceState {
  /** Set at the first tool call of the choice. */
  calls: ReturnType<CallFormat['deltas']> | undefined;
  finish: string | undefined;
}

const DONE = 'data: [DONE]\n\n';

/** An event of a stream: one `data:` line, LF only (specification 4.1). */
function event(data: string): string {
  return `data: ${data}\n\n`;
}

/** Usage as OpenAI shows it, with the cost in dollars where the operator shows it to clients. */
export function openAiUsage({ usage, cost_nano }: Bill, { shows_cost }: AnswerHead): object {
  const body = detailedUsageBody(usage);
  return shows_cost ? { ...body, cost: Number(formatDollars(cost_nano)) } : body;
}

/** The differences between the contract's chunks and OpenAI's. */
export interface ChunkFormat {
  object: string;
  /** Further fields of the first delta of a choice. */
  opening?: Readonly<Record<string, unknown>>;
  /** Each choice without log probabilities has `logprobs: null`. */
  null_logprobs?: boolean;
  /**
   * Absent: only the last chunk has usage. `asked`: it is null on the others. `never`: no chunk has
   * it.
   */
  usage?: 'asked' | 'never';
  /** A refusal has a field of its own, by default it is content; so have the text's sources. */
  refusals?: true;
  /** Usage is shown with its classes. */
  usage_details?: true;
  /** How tool calls are written; by default as `tool_calls`. */
  calls?: CallFormat;
}

/**
 * Writes deltas as the contract's chunks (specification 2.5): for each choice a delta with the
 * role, text, and one finish reason; then usage on the final chunk only.
 */
export class ChunkWriter extends EventWriter {
  readonly #head: string;
  readonly #opening: string;
  readonly #no_logprobs: string;
  readonly #tail: string;
  readonly #hasUsage: boolean;
  readonly #usageBody: (bill: Bill) => object;
  readonly #calls: CallFormat;
  readonly #refusals: boolean;
  readonly #choices = new Map<number, ChoiceState>();

  constructor(answer: AnswerHead, visible: VisibleParts, format: ChunkFormat) {
    super(visible);
    const { id, created, model } = answer;
    this.#calls = format.calls ?? TOOL_CALLS;
    this.#refusals = format.refusals === true;
    this.#opening = JSON.stringify({ role: 'assistant', ...format.opening });
    this.#no_logprobs = format.null_logprobs ? '"logprobs":null,' : '';
    this.#tail = format.usage === 'asked' ? ',"usage":null' : '';
    this.#hasUsage = format.usage !== 'never';
    this.#usageBody = format.usage_details
      ? (bill) => openAiUsage(bill, answer)
      : ({ usage }) => usageBody(usage);
    const head = { id, object: format.object, created, model };
    this.#head = `${JSON.stringify(head).slice(0, -1)},"choices":[`;
  }

  /**
   * The final chunk and the end of the stream. They are sent only after the charge is committed.
   */
  end(bill: Bill): string {
    if (!this.#hasUsage) return DONE;
    return event(`${this.#head}],"usage":${JSON.stringify(this.#usageBody(bill))}}`) + DONE;
  }

  protected writeError(error: GatewayError): string {
    return event(JSON.stringify(error));
  }

  protected writeDelta(delta: ChatDelta, index: number): string {
    let events = '';
    let choice = this.#choices.get(index);
    if (!choice) {
      choice = { calls: undefined, finish: undefined };
      this.#choices.set(index, choice);
      events += this.#chunk(index, this.#opening, null);
    }
    if (choice.finish !== undefined) return events;
    const json = this.#delta(delta, index, choice);
    const logprobs = this.visible.logprobs ? delta.logprobs : undefined;
    if (json) events += this.#chunk(index, json, null, logprobs);
    const { annotations } = delta;
    if (annotations && this.#refusals) {
      events += this.#chunk(index, JSON.stringify({ annotations }), null);
    }
    if (delta.finish_reason !== undefined) {
      events += this.#finish(delta.finish_reason, index, choice);
    }
    return events;
  }

  #finish(reason: string, index: number, choice: ChoiceState): string {
    const last = choice.calls?.end();
    const hasCalls = choice.calls !== undefined;
    choice.finish = finishReason(reason, hasCalls, this.#calls.finish_reason);
    const event = last ? this.#chunk(index, JSON.stringify(last), null) : '';
    return event + this.#chunk(index, '{}', choice.finish);
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

  /** The field of a delta's content. */
  #field({ is_refusal }: ChatDelta): string {
    return is_refusal && this.#refusals ? 'refusal' : 'content';
  }

  /**
   * The delta as JSON; empty if it adds nothing. Details of reasoning do not count as delivered
   * text: they repeat its text, or hold encrypted state.
   */
  #delta(delta: ChatDelta, index: number, choice: ChoiceState): string {
    const { content } = delta;
    const reasoning = this.visible.reasoning ? delta.reasoning_content : undefined;
    const details = this.visible.reasoning ? delta.reasoning_details : undefined;
    const calls = this.visible.tools && delta.tool_calls?.length ? delta.tool_calls : undefined;
    if (content && !reasoning && !details && !calls) {
      this.delivered(content, index);
      return `{"${this.#field(delta)}":${JSON.stringify(content)}}`;
    }
    if (!content && !reasoning && !details?.length && !calls) return '';
    let text = `${content ?? ''}${reasoning ?? ''}`;
    for (const { function: call } of calls ?? [])
      text += `${call.name ?? ''}${call.arguments ?? ''}`;
    if (text !== '') this.delivered(text, index);
    if (calls) choice.calls ??= this.#calls.deltas();
    const called = calls && choice.calls?.write(calls);
    if (calls && !called && !content && !reasoning && !details?.length) return '';
    return JSON.stringify({
      ...(content && { [this.#field(delta)]: content }),
      ...(reasoning && { reasoning_content: reasoning }),
      ...(details?.length && { reasoning_details: details }),
      ...called,
    });
  }
}
