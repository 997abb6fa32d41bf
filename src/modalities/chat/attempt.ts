import type { ClientConnection } from '../../http/client-connection.js';
import type { Upstream } from '../../core/model.js';
import type { ChatCall, ChatDelta, ChatReply } from './codec.js';
import type { DeltaSource } from './delta-reader.js';
import type { Heading, Shown } from './shown.js';

/** The upstream that answers, and the names of what it could not be told. */
export interface Made {
  upstream: Upstream;
  heading: Heading;
  ignored: readonly string[] | undefined;
}

/** A whole answer of one upstream. */
export interface ChatAnswer extends Made {
  kind: 'chat';
  reply: ChatReply;
}

/** A stream whose first pieces are here, so that its upstream is known to answer. */
export interface ChatStream extends Made {
  kind: 'chat-stream';
  first: readonly ChatDelta[];
  rest: DeltaSource;
  shown: Shown;
  client: ClientConnection;
}

export interface Limits {
  answer_bytes: number;
  stream_bytes: number;
  event_bytes: number;
}

export interface ChatAttempt {
  call: ChatCall;
  upstream: Upstream;
  heading: Heading;
  shown: Shown;
  limits: Limits;
  client: ClientConnection;
}
