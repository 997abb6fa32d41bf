import { readPartialUsage, type Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type {
  ChatDelta,
  ChatReply,
  HostedPart,
  ReasoningDetail,
  ToolCallFragment,
} from '../codec.js';
import type { VisibleParts } from '../call.js';
import { EventWriter, namedEvent, finishReason } from './openai-answer.js';
import { hostedBlocks } from './hosted-search.js';
import { CLAUDE_FORMAT } from './messages-blocks.js';
import { sealed } from './sealed-reasoning.js';

/** Writers of the parts that events share with whole answers and errors. */
export interface MessagesOptions {
  usageOf(usage: Bill['usage']): object;
  errorOf(error: GatewayError): object;
  /** The tokens of the prompt, for an upstream that does not count them at the start. */
  prompt_tokens: number;
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

const PAUSED = 'pause_turn';

/** The stop reason of an answer, as this API writes it. */
export function ending(
  finish_reason: string | null | undefined,
  hasToolCalls: boolean,
  stop_sequence: string | undefined,
): { stop_reason: string; stop_sequence: string | null } {
  // Its client sends the turn back, and the upstream goes on with it.
  if (finish_reason === PAUSED) return { stop_reason: PAUSED, stop_sequence: null };
  if (stop_sequence !== undefined) return { stop_reason: 'stop_sequence', stop_sequence };
  const stop_reason = STOP_REASONS[finishReason(finish_reason, hasToolCalls)] ?? 'end_turn';
  return { stop_reason, stop_sequence: null };
}

/**
 * The state of reasoning as the client gets it, to send it back. Claude's own stays as it is. Other
 * state is sealed, so that Claude never gets it and its own upstream gets it complete.
 */
export function carriedState(detail: ReasoningDetail, own: string): string {
  if (detail.format === CLAUDE_FORMAT) return own;
  const { text: _, ...rest } = detail;
  return sealed([rest]);
}

type Block = { type: 'text' | 'thinking' } | { type: 'tool_use'; call: number };

/**
 * Writes deltas as events of the Messages API: content blocks one after another, each with a start
 * and a stop, then the stop reason with the usage.
 */
export class MessagesWriter extends EventWriter {
  readonly wire = { keep_alive: namedEvent('ping', {}) };
  readonly in_turn = true;
  #hasBegun = false;
  /** The usage that came before the first output. */
  #reported: unknown;
  /** Further fields of the answer that came since the last event that can have them. */
  #others: ChatReply['others'];
  /** Those that stand beside the last change of the answer. */
  #beside: ChatReply['others'];
  #blocks = 0;
  #open: Block | undefined;
  #calls = 0;
  #finish: string | undefined;
  #sequence: string | undefined;

  constructor(
    private readonly head: object,
    visible: VisibleParts,
    private readonly options: MessagesOptions,
  ) {
    super(visible);
  }

  override frame(deltas: readonly ChatDelta[]): string {
    if (!this.#hasBegun) this.#reported = deltas.findLast(({ usage }) => usage)?.usage;
    return super.frame(deltas);
  }

  end({ usage }: Bill): string {
    const begun = this.begin();
    const last = ending(this.#finish, this.#calls > 0, this.#sequence);
    const delta = { ...this.#others, ...last };
    return (
      begun +
      this.#close() +
      namedEvent('message_delta', { ...this.#beside, delta, usage: this.options.usageOf(usage) }) +
      namedEvent('message_stop', {})
    );
  }

  protected override noteOthers({ others, are_beside }: ChatDelta): void {
    if (are_beside) this.#beside = { ...this.#beside, ...others };
    else if (others) this.#others = { ...this.#others, ...others };
  }

  protected writeError(error: GatewayError): string {
    return namedEvent('error', this.options.errorOf(error));
  }

  protected writeDelta(delta: ChatDelta): string {
    const { content, reasoning_content, reasoning_details, tool_calls, finish_reason } = delta;
    let events = '';
    if (this.visible.reasoning) {
      if (reasoning_content) {
        // A thought is a block of its own, and signed as it is.
        events += this.#thinking(reasoning_content.slice(delta.parted_by));
      }
      for (const detail of reasoning_details ?? []) events += this.#detail(detail);
    }
    if (this.visible.tools) for (const part of delta.hosted_parts ?? []) events += this.#host(part);
    if (content) events += this.#writeText(content);
    if (this.visible.tools) for (const call of tool_calls ?? []) events += this.#callOn(call);
    if (finish_reason !== undefined) this.#finish = finish_reason;
    if (delta.stop_sequence !== undefined) this.#sequence = delta.stop_sequence;
    return events;
  }

  protected override begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    const rest = { content: [], stop_reason: null, stop_sequence: null };
    const { prompt_tokens } = this.options;
    const reported = readPartialUsage(this.#reported);
    const usage = reported?.prompt_tokens ? reported : { prompt_tokens, completion_tokens: 0 };
    const counts = this.options.usageOf(usage);
    const message = { ...this.#others, ...this.head, ...rest, usage: counts };
    this.#others = undefined;
    return namedEvent('message_start', { message });
  }

  #writeText(text: string): string {
    this.delivered(text);
    const opened = this.#openAs({ type: 'text' }, { type: 'text', text: '' });
    return opened + this.#delta({ type: 'text_delta', text });
  }

  #thinking(thinking: string): string {
    this.delivered(thinking);
    const block = { type: 'thinking', thinking: '', signature: '' };
    return (
      this.#openAs({ type: 'thinking' }, block) + this.#delta({ type: 'thinking_delta', thinking })
    );
  }

  /** The text of a detail was already sent as reasoning; its signature ends the block. */
  #detail(detail: ReasoningDetail): string {
    const { type, data, signature } = detail;
    if (type === 'reasoning.encrypted' && data !== undefined) {
      const block = { type: 'redacted_thinking', data: carriedState(detail, data) };
      return this.#close() + this.#start(block) + this.#stop();
    }
    if (signature === undefined) return '';
    const block = { type: 'thinking', thinking: '', signature: '' };
    const opened = this.#openAs({ type: 'thinking' }, block);
    const signed = { type: 'signature_delta', signature: carriedState(detail, signature) };
    return opened + this.#delta(signed) + this.#close();
  }

  /** The blocks of a tool that the upstream has run; the input of a call comes as a delta. */
  #host(part: HostedPart): string {
    return hostedBlocks(part).reduce((events, block) => {
      const { input } = block;
      const begun =
        this.#close() + this.#start(input === undefined ? block : { ...block, input: {} });
      const partial_json = input === undefined ? '' : JSON.stringify(input);
      const delta = partial_json && this.#delta({ type: 'input_json_delta', partial_json });
      return events + begun + delta + this.#stop();
    }, '');
  }

  #callOn({ index, id, function: { name, arguments: args } }: ToolCallFragment): string {
    let events = '';
    this.delivered(`${name ?? ''}${args ?? ''}`);
    if (this.#open?.type !== 'tool_use' || this.#open.call !== index) {
      this.#calls += 1;
      events += this.#close() + this.#start({ type: 'tool_use', id, name, input: {} });
      this.#open = { type: 'tool_use', call: index };
    }
    return args ? events + this.#delta({ type: 'input_json_delta', partial_json: args }) : events;
  }

  /** Continues the open block if it has the same type, else starts another. */
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
