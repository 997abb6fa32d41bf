import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import { UpstreamError } from '../../../core/upstream-error.js';
import type { ChatDelta, ReasoningDetail, ToolCallFragment } from '../codec.js';
import type { Shown } from '../call.js';
import { EventWriter, namedEvent } from './event-writer.js';
import { finishReason } from './openai-answer.js';

/** The parts of events that whole answers and errors have too. */
export interface MessagesWords {
  usageOf(usage: Bill['usage']): object;
  errorOf(error: GatewayError): object;
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** A finish reason in the words of this format. */
export function stopReason(said: string | null | undefined, hasToolCalls: boolean): string {
  return STOP_REASONS[finishReason(said, hasToolCalls)] ?? 'end_turn';
}

type Block = { type: 'text' | 'thinking' } | { type: 'tool_use'; call: number };

const NO_TOKENS = { prompt_tokens: 0, completion_tokens: 0 };

/**
 * Turns the pieces of a streamed answer into the events of the Messages API: content blocks one
 * after another, each opened and closed, then the stop reason with all of the usage.
 */
export class MessagesWriter extends EventWriter {
  #hasBegun = false;
  #blocks = 0;
  #open: Block | undefined;
  #calls = 0;
  #finish: string | undefined;

  constructor(
    private readonly head: object,
    shown: Shown,
    private readonly words: MessagesWords,
  ) {
    super(shown);
  }

  end({ usage }: Bill): string {
    const stop_reason = stopReason(this.#finish, this.#calls > 0);
    const delta = { stop_reason, stop_sequence: null };
    return (
      this.#begin() +
      this.#close() +
      namedEvent('message_delta', { delta, usage: this.words.usageOf(usage) }) +
      namedEvent('message_stop', {})
    );
  }

  error(error: GatewayError): string {
    return namedEvent('error', this.words.errorOf(error));
  }

  protected piece(piece: ChatDelta): string {
    const { content, reasoning_content, reasoning_details, tool_calls, finish_reason } = piece;
    let events = this.#begin();
    if (this.shown.reasoning) {
      if (reasoning_content) events += this.#thinking(reasoning_content);
      for (const detail of reasoning_details ?? []) events += this.#detail(detail);
    }
    if (content) events += this.#say(content);
    if (this.shown.tools) for (const call of tool_calls ?? []) events += this.#callOn(call);
    if (finish_reason !== undefined) this.#finish = finish_reason;
    return events;
  }

  #begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    const rest = { content: [], stop_reason: null, stop_sequence: null };
    const message = { ...this.head, ...rest, usage: this.words.usageOf(NO_TOKENS) };
    return namedEvent('message_start', { message });
  }

  #say(text: string): string {
    this.heard(text);
    const opened = this.#openAs({ type: 'text' }, { type: 'text', text: '' });
    return opened + this.#delta({ type: 'text_delta', text });
  }

  #thinking(thinking: string): string {
    this.heard(thinking);
    const block = { type: 'thinking', thinking: '', signature: '' };
    return (
      this.#openAs({ type: 'thinking' }, block) + this.#delta({ type: 'thinking_delta', thinking })
    );
  }

  /** The text of a detail came as the reasoning already; its signature closes the block. */
  #detail({ type, data, signature }: ReasoningDetail): string {
    if (type === 'reasoning.encrypted' && data !== undefined) {
      return this.#close() + this.#start({ type: 'redacted_thinking', data }) + this.#stop();
    }
    if (signature === undefined) return '';
    const block = { type: 'thinking', thinking: '', signature: '' };
    const opened = this.#openAs({ type: 'thinking' }, block);
    return opened + this.#delta({ type: 'signature_delta', signature }) + this.#close();
  }

  #callOn({ index, id, function: { name, arguments: args } }: ToolCallFragment): string {
    let events = '';
    this.heard(`${name ?? ''}${args ?? ''}`);
    if (index >= this.#calls) {
      this.#calls = index + 1;
      events += this.#close() + this.#start({ type: 'tool_use', id, name, input: {} });
      this.#open = { type: 'tool_use', call: index };
    } else if (this.#open?.type !== 'tool_use' || this.#open.call !== index) {
      throw new UpstreamError('broken', 'The upstream went back to a tool call that had ended.');
    }
    return args ? events + this.#delta({ type: 'input_json_delta', partial_json: args }) : events;
  }

  /** Goes on with the open block where it is of the same type, else opens another. */
  #openAs(block: Block, content_block: object): string {
    if (this.#open?.type === block.type) return '';
    const events = this.#close() + this.#start(content_block);
    this.#open = block;
    return events;
  }

  #start(content_block: object): string {
    return namedEvent('content_block_start', { index: this.#blocks, content_block });
  }

  #delta(delta: object): string {
    return namedEvent('content_block_delta', { index: this.#blocks, delta });
  }

  #stop(): string {
    const index = this.#blocks;
    this.#blocks += 1;
    return namedEvent('content_block_stop', { index });
  }

  #close(): string {
    if (!this.#open) return '';
    this.#open = undefined;
    return this.#stop();
  }
}
