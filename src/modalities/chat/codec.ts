import { hasMethods, isRecord } from '../../lib/is-record.js';
import type { Encoded } from '../../core/provider.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { MessagesBlock, MessagesMessage, MessagesTool } from '../../schema-types/messages.js';
import type { EventLimits, ServerSentEvent } from '../../upstream/sse.js';
import type { Upstream } from '../../core/model.js';

/**
 * A chat call in the gateway's own words: checked, aliases resolved, unknown fields gone. A codec
 * whose operation has `max: 1` sees `n: 1`, and one with `image_urls: bytes` sees images as data
 * URLs alone.
 */
export interface ChatCall {
  messages: readonly ChatMessage[];
  stream: boolean;
  n: number;
  /** The most output tokens of each completion; undefined only where the model is free. */
  max_tokens: number | undefined;
  /** Every other field that may travel: sampling, stop, tools, passthrough. */
  fields: Readonly<Record<string, unknown>>;
  /** Custom tools by name, in OpenAI's words; in `tools` they stand as functions of an `input`. */
  custom_tools?: ReadonlyMap<string, object>;
  original?: MessagesOriginal;
}

/**
 * What the client of a Messages API has said, for an upstream with the same words. The rest of the
 * call says it too, and is what the call is checked, measured and held by.
 */
export interface MessagesOriginal {
  system: readonly MessagesBlock[];
  messages: readonly MessagesMessage[];
  tools: readonly MessagesTool[];
  effort: string | undefined;
  /** Features that the client asks for in the header `anthropic-beta`. */
  betas: readonly string[];
}

/**
 * What an upstream demands back on the next turn beside the text of its reasoning, in the form that
 * OpenRouter gave it: a part of a message of the assistant, in the order of the answer. In a stream
 * the parts of one `index` follow each other, and a client joins their texts.
 */
export interface ReasoningDetail {
  type: 'reasoning.text' | 'reasoning.summary' | 'reasoning.encrypted';
  text?: string;
  summary?: string;
  /** What only the upstream can read. */
  data?: string;
  /** Proves to the upstream that the text is its own. */
  signature?: string;
  id?: string;
  /** Whose form it is, such as `anthropic-claude-v1`: another upstream leaves the part out. */
  format?: string;
  index?: number;
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
  reasoning_details?: ReasoningDetail[];
  logprobs?: unknown;
  /** As the upstream says it; the gateway maps it to the contract's words. */
  finish_reason: string | null;
  /** The one of the client's stop sequences that was met, where the upstream tells. */
  stop_sequence?: string;
}

export interface ChatReply {
  choices: ChatChoice[];
  /** An `UpstreamUsage`, or undefined where the upstream gave none. */
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
  reasoning_details?: ReasoningDetail[];
  tool_calls?: ToolCallFragment[];
  logprobs?: unknown;
  finish_reason?: string;
  stop_sequence?: string;
  /** An `UpstreamUsage`. The last one seen counts. */
  usage?: unknown;
}

/**
 * How one wire format says chat. Pure: no I/O, no clock. A body or event that breaks the wire
 * format, or carries an error, is thrown as `UpstreamError`.
 */
export interface ChatCodec {
  /**
   * Throws the `UpstreamError` `unsupported`, with its `param`, for what this wire cannot say and
   * what would change the answer. Names what it leaves out in `ignored`.
   */
  encode(call: ChatCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: ChatCall, upstream: Upstream): ChatReply;
  /** Reads one streamed answer; made for it when it begins. */
  decodeStream(call: ChatCall, upstream: Upstream): StreamDecoder;
  /**
   * Takes the bytes of a stream apart, where they are not server-sent events. The frames are held
   * to the limits, as an `EventReader` is.
   */
  openFrames?(limits: EventLimits): StreamFrames;
}

/** The events of one stream of bytes. What it throws is an `UpstreamError`. */
export interface StreamFrames {
  /** The events that the packet has completed. */
  read(packet: Uint8Array): readonly ServerSentEvent[];
  /** The events that were still open when the bytes ended. */
  finish(): readonly ServerSentEvent[];
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
  if (!isRecord(value) || !hasMethods(value, ['encode', 'decode', 'decodeStream'])) return false;
  return value['openFrames'] === undefined || hasMethods(value, ['openFrames']);
}
