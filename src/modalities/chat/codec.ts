import { hasMethods } from '../../lib/is-record.js';
import type { Encoded } from '../../core/provider.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { ServerSentEvent } from '../../upstream/sse.js';
import type { Upstream } from '../../core/model.js';

/** A chat call in the gateway's own words: checked, aliases resolved, unknown fields gone. */
export interface ChatCall {
  messages: readonly ChatMessage[];
  stream: boolean;
  n: number;
  /** The most output tokens of each completion; undefined only where the model is free. */
  max_tokens: number | undefined;
  /** Every other field that may travel: sampling, stop, tools, passthrough. */
  fields: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface ChatChoice {
  index: number;
  content: string | null;
  tool_calls?: ToolCall[];
  reasoning_content?: string;
  logprobs?: unknown;
  /** As the upstream says it; the gateway maps it to the contract's words. */
  finish_reason: string | null;
}

export interface ChatReply {
  choices: ChatChoice[];
  usage: unknown;
}

export interface ToolCallFragment {
  index: number;
  id?: string;
  type?: 'function';
  function: { name?: string; arguments?: string };
}

/** A piece of a streamed answer: new text of one choice, the end of one, or usage seen so far. */
export interface ChatDelta {
  index?: number;
  content?: string;
  reasoning_content?: string;
  tool_calls?: ToolCallFragment[];
  logprobs?: unknown;
  finish_reason?: string;
  /** The last one seen counts. */
  usage?: unknown;
}

/**
 * How one wire format says chat. Pure: no I/O, no clock. A body or event that breaks the wire
 * format, or carries an error, is thrown as `UpstreamError`.
 */
export interface ChatCodec {
  encode(call: ChatCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: ChatCall, upstream: Upstream): ChatReply;
  /** Reads one streamed answer; made for it when it begins. */
  decodeStream(call: ChatCall, upstream: Upstream): StreamDecoder;
}

/** Reads the events of one stream, packet by packet. What it throws is an `UpstreamError`. */
export interface StreamDecoder {
  /**
   * Adds what a packet says to `pieces`, which what comes before an error has joined when it is
   * thrown. True once the stream has said that it is over.
   */
  read(events: readonly ServerSentEvent[], pieces: ChatDelta[]): boolean;
  /** The bytes have ended. Throws unless what has been said is complete. */
  end(pieces: ChatDelta[]): void;
}

/** Whether an adapter's export is a chat codec. */
export function isChatCodec(value: unknown): value is ChatCodec {
  return hasMethods(value, ['encode', 'decode', 'decodeStream']);
}
