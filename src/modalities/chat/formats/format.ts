import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { ChatWork, Heading, Shown } from '../call.js';
import type { ChatDelta, ChatReply } from '../codec.js';

/** Writes one streamed answer, text by text. */
export interface ChatStreamWriter {
  /** Whether anything was delivered that is paid for. */
  readonly hasSpoken: boolean;
  /** The last usage that the upstream gave. */
  readonly usage: unknown;
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
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): ChatWork;
  write(heading: Heading, reply: ChatReply, bill: Bill, work: ChatWork): object;
  stream(heading: Heading, shown: Shown, work: ChatWork): ChatStreamWriter;
  /** The answer that says how many tokens a prompt has; `{input_tokens}` where it is left out. */
  count?(tokens: number): object;
}
