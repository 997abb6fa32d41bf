import type { GatewayError } from '../core/errors.js';
import type { RequestMemory } from '../http/memory-budget.js';

/** How the clients of a format hold a conversation over one WebSocket. */
export interface SocketFormat {
  /** Begins the conversation of one socket. */
  open(terms: SocketTerms): SocketTalk;
}

/** What one socket may use. */
export interface SocketTerms {
  /** The most bytes of earlier turns that it keeps. */
  max_bytes: number;
  /** The most JSON values of a frame. */
  values: number;
  /** An empty count for a part of its memory, which `close` of the count frees. */
  memory: () => RequestMemory;
  now: () => number;
}

/** The conversation of one socket, in the words of its format. */
export interface SocketTalk {
  /** Reads a frame of the client. Throws `GatewayError` if it means nothing. */
  read(frame: Buffer): SocketCommand;
  /** The frame that tells an error; `lane` is that of the frame at fault. */
  error(error: GatewayError, lane?: string): string;
  /** Frees its memory. */
  close(): void;
}

/**
 * What a frame asks for: a call, the end of one that runs (by its ID, else by its lane), or
 * nothing.
 */
export type SocketCommand =
  | { asks: 'call'; call: SocketCall }
  | { asks: 'cancel'; lane: string; id: string | undefined }
  | { asks: 'nothing' };

/** One turn. Turns of one lane follow each other; those of different lanes run at once. */
export interface SocketCall {
  /** The client's name for it; empty if it has none. */
  readonly lane: string;
  /** The ID of the answer, once it has begun. */
  readonly id: string | undefined;
  /** Set once the last event of the answer was written. */
  readonly isDone: boolean;
  /**
   * The body of the HTTP request that the turn is sent as, or the frames that answer it. Throws
   * `GatewayError` if it refers to what the socket does not remember.
   */
  begin(): { body: string } | { frames: readonly string[] };
  /** The frame for an event of the answer. */
  frame(event: string | undefined, data: string): string;
  /** The frame for an answer that is an error. */
  refusal(status: number, headers: Readonly<Record<string, string>>, body: string): string;
  /** The frame for a turn that the client has ended. */
  cancelled(): string;
  /** Frees what a turn takes that waits or runs; what is remembered stays. */
  close(): void;
}
