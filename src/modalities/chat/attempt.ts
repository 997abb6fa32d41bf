import type { ClientConnection } from '../../http/client-connection.js';
import type { Upstream } from '../../core/model.js';
import type { ChatCall, ChatDelta, ChatReply } from './codec.js';
import type { DeltaSource } from './delta-reader.js';
import type { Heading, Shown } from './shown.js';

/** A whole answer of one upstream. */
export interface ChatAnswer {
  kind: 'chat';
  upstream: Upstream;
  reply: ChatReply;
  heading: Heading;
}

/** A stream whose first pieces are here, so that its upstream is known to answer. */
export interface ChatStream {
  kind: 'chat-stream';
  upstream: Upstream;
  first: readonly ChatDelta[];
  rest: DeltaSource;
  heading: Heading;
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
