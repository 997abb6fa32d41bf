import type { ChatCall, ChatDelta, ChatReply } from './codec.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Upstream } from '../../core/model.js';
import type { SourceTexts } from '../../lib/source-texts.js';
import type { MediaFile } from '../../lib/media-reader.js';
import type { ClientNames } from './client-names.js';
import type { UsageReport } from './usage-report.js';

/** The size of a prompt, from which its max cost is computed. */
export interface PromptSize {
  text_bytes: number;
  messages: number;
  images: number;
  /** Pages of files. */
  pages: number;
  /** Images and files that are named by an http(s) URL. */
  urls: number;
  audio_bytes: number;
  /** The seconds of audio whose headers or packets tell them. */
  audio_seconds: number;
  /**
   * The further pages and seconds that media may have which could not be read: the most that its
   * bytes allow. They are held, but no estimate is made of them.
   */
  unread_pages: number;
  unread_seconds: number;
}

/** A tool as the client knows it. */
export interface ClientTool {
  name: string;
  namespace?: string;
  /** It takes a text instead of arguments. */
  is_custom?: boolean;
}

/** The tools of a request, by the name under which upstreams know them. */
export type ClientTools = ReadonlyMap<string, ClientTool>;

/** A chat request fitted to the chosen model. */
export interface ChatRequest {
  call: ChatCall;
  size: PromptSize;
  /** The media whose pages and seconds are not in `size` yet. */
  media: readonly MediaFile[];
  /** Set if the state of reasoning is passed on, but the client did not ask for its text. */
  hides_thoughts?: boolean;
  /** Set if the answer is an object with one value, and the client asked for the value alone. */
  unwraps_value?: boolean;
  /** Set if the client asked for the usage of its stream. */
  include_usage?: boolean;
  /** Set if the client asked for the model's reasoning, in a format that can show it. */
  shows_reasoning?: boolean;
  /** Set if tools of the client's format have more than a name. */
  tools?: ClientTools;
  /** Set if the client offered `functions`, the older form of tools. */
  has_functions?: true;
  /** Set if the client's format has other names for the fields of the call. */
  names?: ClientNames;
  /** The long texts of the client's body as they came. Some of the call's may be sealed. */
  texts?: SourceTexts | undefined;
  /** Fields of the request that its answer repeats. */
  echo?: Readonly<Record<string, unknown>>;
  /** Names of the fields that are not sent, for the header `tollgate-ignored`. */
  ignored: readonly string[];
  /** The field of chat completions that limits the answer's tokens, as the client spelt it. */
  limit: 'max_tokens' | 'max_completion_tokens';
  /** The limit is lower than the client's. */
  is_lowered: boolean;
}

/** The fields of every answer and chunk of one completion. `created` is in Unix seconds. */
export interface AnswerHead {
  id: string;
  created: number;
  model: string;
  /** The clock, in milliseconds, for formats whose answers tell when they ended. */
  now?: () => number;
  /** The client reads the cost of the call beside its usage, where its API has a place for it. */
  shows_cost?: boolean;
}

/** The parts of an upstream's answer that the client sees. */
export interface VisibleParts {
  /** The number of choices asked for; further ones are dropped. */
  choices: number;
  tools: boolean;
  reasoning: boolean;
  logprobs: boolean;
}

/** The upstream that answers, and the names of the fields that it does not accept. */
export interface ChatReplyBase {
  upstream: Upstream;
  head: AnswerHead;
  ignored: readonly string[] | undefined;
}

/** A whole answer of one upstream. */
export interface WholeChatReply extends ChatReplyBase {
  kind: 'chat';
  reply: ChatReply;
}

/** A stream whose first deltas have arrived, so that its upstream is known to answer. */
export interface ChatReplyStream extends ChatReplyBase {
  kind: 'chat-stream';
  first: readonly ChatDelta[];
  rest: DeltaSource;
  visible: VisibleParts;
  client: ClientConnection;
}

/**
 * The most bytes of a whole answer, of a stream, and of one event in it; the most events of a
 * stream, and the most tool calls and parts of reasoning of an answer.
 */
export interface Limits {
  answer_bytes: number;
  stream_bytes: number;
  event_bytes: number;
  stream_events: number;
  answer_calls: number;
  answer_parts: number;
}

/** A call to one upstream. `visible` are the parts of its answer that the client may see. */
export interface ChatAttempt {
  call: ChatCall;
  /** The index of its first choice, if it makes only some of the choices. */
  from?: number;
  /** Gets the report of each call that is sent. */
  reports: UsageReport[];
  upstream: Upstream;
  head: AnswerHead;
  visible: VisibleParts;
  limits: Limits;
  client: ClientConnection;
  /** The long texts of the client's body as they came. */
  texts?: SourceTexts | undefined;
}

export type DeltaConsumer = (deltas: readonly ChatDelta[]) => Promise<void> | undefined;

/** A source of the deltas of a stream, packet by packet. */
export interface DeltaSource {
  /**
   * Calls `take` with the deltas of each packet, and waits for the promise that it returns.
   * Resolves when the stream is complete or `leave` was called; rejects with the error of a broken
   * stream.
   */
  each(take: DeltaConsumer): Promise<void>;
  /** Ends the reading early. */
  leave(): void;
}
