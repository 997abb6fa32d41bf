import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { AnswerHead, VisibleParts } from '../call.js';
import type { ChatDelta, ReasoningDetail, ToolCall } from '../codec.js';
import { EventWriter } from './openai-answer.js';
import { errorOf } from './content-api.js';
import type { StreamWire } from './format.js';
import {
  callPart,
  candidate,
  finishOf,
  headOf,
  logprobsOf,
  signedPart,
  contentUsage,
  withState,
} from './generate-content-answer.js';
import { enumValue } from './generate-content-enum.js';
import { othersIn, ownSignatures } from './generate-content-state.js';

interface StreamedChoice {
  index: number;
  hasCalls: boolean;
  finish: string | undefined;
  /** State of an upstream other than Gemini that was not sent in a part yet. */
  state: ReasoningDetail[];
  /** Text that is sent at the end. */
  held: string;
  /** The tool call to which fragments are added. */
  call: (ToolCall & { index: number }) | undefined;
}

/** The form of the stream that the client asked for. */
export interface ContentOptions {
  as: 'events' | 'list';
  /** Whether the client asked for the model's thoughts. */
  thoughts: boolean;
  /** See `ChatRequest`. The value is sent when it is whole. */
  unwraps_value?: boolean | undefined;
}

/** The answer as one JSON list, in which white space has no meaning. */
const LIST: StreamWire = { content_type: 'application/json; charset=utf-8', keep_alive: '\n' };

/**
 * Writes deltas as partial answers, as events or as the entries of one list. Tool calls are sent
 * whole: this API has no pieces of arguments. Only the last answer has a finish reason, by which
 * the client knows the end.
 */
export class ContentWriter extends EventWriter {
  readonly breaks = true;
  readonly in_turn = true;
  readonly wire: StreamWire | undefined;
  readonly #head: object;
  readonly #choices = new Map<number, StreamedChoice>();
  #hasBegun = false;

  constructor(
    head: AnswerHead,
    visible: VisibleParts,
    private readonly options: ContentOptions,
  ) {
    super(visible);
    this.#head = headOf(head);
    this.wire = options.as === 'list' ? LIST : undefined;
  }

  override get shows_reasoning(): boolean {
    return this.visible.reasoning && this.options.thoughts;
  }

  end({ usage }: Bill): string {
    const candidates = [...this.#choices].map(([index, choice]) => {
      const parts = this.#endCall(choice);
      if (choice.held !== '') parts.push({ text: enumValue(choice.held) });
      parts.push(...withState([], choice.state));
      return candidate(index, parts, { finishReason: finishOf(choice.finish, choice.hasCalls) });
    });
    const hasBegun = this.#hasBegun;
    const last = this.#answer({ candidates, usageMetadata: contentUsage(usage) });
    // It is not sent if the charge fails.
    this.#hasBegun = hasBegun;
    return this.wire ? `${last}\r\n]\r\n` : last;
  }

  protected writeError(error: GatewayError): string {
    return this.#framed(errorOf(error));
  }

  protected writeDelta(delta: ChatDelta, index: number): string {
    const parts = this.#partsOf(delta, this.#choice(index));
    const logprobs = this.visible.logprobs ? logprobsOf(delta.logprobs) : {};
    if (parts.length === 0 && Object.keys(logprobs).length === 0) return '';
    return this.#answer({ candidates: [candidate(index, parts, logprobs)] });
  }

  #choice(index: number): StreamedChoice {
    const known = this.#choices.get(index);
    if (known) return known;
    const none = { finish: undefined, state: [], held: '', call: undefined };
    const fresh: StreamedChoice = { index, hasCalls: false, ...none };
    this.#choices.set(index, fresh);
    return fresh;
  }

  #partsOf(delta: ChatDelta, choice: StreamedChoice): object[] {
    const parts: object[] = [];
    const { content, reasoning_content, reasoning_details = [], finish_reason } = delta;
    if (this.shows_reasoning && reasoning_content) {
      this.delivered(reasoning_content, choice.index);
      parts.push({ text: reasoning_content, thought: true });
    }
    if (content) {
      this.delivered(content, choice.index);
      parts.push(...this.#endCall(choice));
      if (this.options.unwraps_value) choice.held += content;
      else parts.push({ text: content });
    }
    if (this.visible.tools) parts.push(...this.#callsOf(delta, choice));
    if (this.visible.reasoning) {
      for (const signature of ownSignatures(reasoning_details)) parts.push(signedPart(signature));
      for (const detail of othersIn(reasoning_details)) choice.state.push(detail);
    }
    if (finish_reason !== undefined) choice.finish = finish_reason;
    return parts;
  }

  #callsOf({ tool_calls = [] }: ChatDelta, choice: StreamedChoice): object[] {
    const ended: object[] = [];
    for (const { index, id = '', function: called } of tool_calls) {
      const { name = '', arguments: args = '' } = called;
      this.delivered(name + args, choice.index);
      choice.hasCalls = true;
      if (choice.call?.index !== index) {
        ended.push(...this.#endCall(choice));
        choice.call = { index, id, type: 'function', function: { name, arguments: '' } };
      }
      choice.call.function.arguments += args;
    }
    return ended;
  }

  #endCall(choice: StreamedChoice): object[] {
    const { call, state } = choice;
    if (!call) return [];
    choice.call = undefined;
    choice.state = [];
    return withState([callPart(call)], state);
  }

  #answer(data: object): string {
    return this.#framed({ ...data, ...this.#head });
  }

  #framed(data: object): string {
    const text = JSON.stringify(data);
    if (!this.wire) return `data: ${text}\r\n\r\n`;
    const opening = this.#hasBegun ? ',\r\n' : '[';
    this.#hasBegun = true;
    return opening + text;
  }
}
