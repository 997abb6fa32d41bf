import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { RequestHeaders } from '../../../pipeline/stage.js';
import type { ChatWork, Heading, Shown } from '../call.js';
import type { ChatDelta, ChatReply } from '../codec.js';

/** A way to write a stream. `keep_alive` may stand between any two of its texts. */
export interface StreamWire {
  readonly content_type: string;
  readonly keep_alive: string;
}

/** What a client asked for beside the body. */
export interface Asked {
  readonly query: URLSearchParams;
}

/** Writes one streamed answer, text by text. */
export interface ChatStreamWriter {
  /** Whether anything was delivered that is paid for. */
  readonly hasSpoken: boolean;
  /** The last usage that the upstream gave. */
  readonly usage: unknown;
  /** How the stream goes over the wire, where it is not server-sent events. */
  readonly wire?: StreamWire | undefined;
  /** The API has no mark for the end of a stream, so one that is not whole breaks off. */
  readonly breaks?: true;
  /** The events for some pieces, as one text; empty where there is nothing to say. */
  frame(pieces: readonly ChatDelta[]): string;
  /** Notes the usage in pieces that nobody is shown any more. */
  noteUsage(pieces: readonly ChatDelta[]): void;
  /** The text delivered so far, choice by choice, for counting its tokens. */
  texts(): string[];
  /** The last events of a whole answer. They go out only after the charge is committed. */
  end(bill: Bill): string;
  /** The last event of an answer that is not whole. */
  error(error: GatewayError): string;
}

/** How clients speak to the chat modality. */
export interface ChatFormat extends RequestFormat {
  /** The field that limits the tokens of an answer; that of chat completions where left out. */
  readonly limit?: string;
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model, headers: RequestHeaders): ChatWork;
  write(heading: Heading, reply: ChatReply, bill: Bill, work: ChatWork): object;
  stream(heading: Heading, shown: Shown, work: ChatWork, asked?: Asked): ChatStreamWriter;
  /** The answer that says how many tokens a prompt has; `{input_tokens}` where it is left out. */
  count?(tokens: number): object;
}
