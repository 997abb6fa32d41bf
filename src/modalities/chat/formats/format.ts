import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { SourceTexts } from '../../../lib/source-texts.js';
import type { RequestHeaders } from '../../../pipeline/stage.js';
import type { ChatRequest, AnswerHead, VisibleParts } from '../call.js';
import type { ChatDelta, ChatReply } from '../codec.js';
import type { ChoiceText } from '../usage-report.js';

/**
 * How a stream is sent. `keep_alive` is sent between two of its texts when it is idle; by default a
 * comment of server-sent events, which is also the default type.
 */
export interface StreamWire {
  readonly content_type?: string;
  readonly keep_alive: string;
}

/** The parts of a request beside its body. */
export interface RequestDetails {
  readonly query: URLSearchParams;
}

/** Writes one streamed answer, text by text. */
export interface ChatStreamWriter {
  /** Whether any output was delivered, which is charged. */
  readonly hasSpoken: boolean;
  /** Whether the client gets the text of the model's reasoning. */
  readonly shows_reasoning: boolean;
  /** How the stream is sent if it is not server-sent events with comments. */
  readonly wire?: StreamWire | undefined;
  /**
   * Set if the API has no mark for the end of a stream: then the gateway closes the connection of
   * an incomplete one.
   */
  readonly breaks?: true;
  /** Set if each part of an answer, such as a tool call, ends before the next begins. */
  readonly in_turn?: true;
  /** The events for deltas, as one text; empty if they add nothing. */
  frame(deltas: readonly ChatDelta[]): string;
  /** The text delivered so far, choice by choice, for counting its tokens. */
  texts(): ChoiceText[];
  /**
   * The last events of a complete answer. They are written before the charge, so that a fault of
   * the writer is not charged, and sent after it is committed.
   */
  end(bill: Bill): string;
  /** The last events of an incomplete answer, with those before a fault that `frame` threw. */
  error(error: GatewayError): string;
}

/** A client format of the chat modality. */
export interface ChatFormat extends RequestFormat {
  /** Set if its prompts are counted, and not sent. */
  readonly only_counts?: true;
  /** The field that limits the tokens of an answer; by default that of chat completions. */
  readonly limit?: string;
  /**
   * Translates a validated body into a chat request for a model. `texts` are its long texts as they
   * came. Throws `GatewayError` if the model cannot do it.
   */
  read(body: object, model: Model, headers: RequestHeaders, texts?: SourceTexts): ChatRequest;
  write(head: AnswerHead, reply: ChatReply, bill: Bill, request: ChatRequest): object;
  stream(
    head: AnswerHead,
    visible: VisibleParts,
    request: ChatRequest,
    asked?: RequestDetails,
  ): ChatStreamWriter;
  /** Writes the number of tokens of a prompt; by default `{input_tokens}`. */
  count?(tokens: number): object;
}
