import type { ChatCall, ChatDelta, ChatReply } from './codec.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Upstream } from '../../core/model.js';
import type { DeltaSource } from './delta-reader.js';

/** What a prompt is made of: its price bound goes by that. */
export interface PromptSize {
  text_bytes: number;
  messages: number;
  images: number;
  /** Pages of files. */
  pages: number;
  /** Images and files that are named by an http(s) URL. */
  urls: number;
  audio_bytes: number;
}

/** A tool as the client knows it. */
export interface ClientTool {
  name: string;
  namespace?: string;
  /** It takes a text instead of arguments. */
  is_custom?: boolean;
}

/** The tools of a request by the one name that an upstream knows them by. */
export type ClientTools = ReadonlyMap<string, ClientTool>;

/** A chat request as the chosen model takes it. */
export interface ChatWork {
  kind: 'chat';
  call: ChatCall;
  size: PromptSize;
  /** Set where the state of reasoning travels, but a client did not ask for its text. */
  hides_thoughts?: boolean;
  /** Set where a client asked for the usage of its stream. */
  include_usage?: boolean;
  /** Set where a client asked to see the model think, in a format that has a place for it. */
  shows_reasoning?: boolean;
  /** Set where the client's format knows tools under more than a name. */
  tools?: ClientTools;
  /** Set where a client offered `functions`, the older word for tools. */
  has_functions?: true;
  /** What the client's format calls a field of the call otherwise, by the name in the call. */
  words?: ReadonlyMap<string, string>;
  /** Fields of the request that its answer repeats. */
  echo?: Readonly<Record<string, unknown>>;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
  /** The field of chat completions that limits the answer's tokens, as the client spelt it. */
  limit: 'max_tokens' | 'max_completion_tokens';
  /** The limit is lower than the client's. */
  is_lowered: boolean;
}

/** What every answer and chunk of one completion carries. `created` is in Unix seconds. */
export interface Heading {
  id: string;
  created: number;
  model: string;
}

/** Which parts of an upstream's answer the client gets to see. */
export interface Shown {
  /** How many choices were asked for; an upstream's surplus is dropped. */
  choices: number;
  tools: boolean;
  reasoning: boolean;
  logprobs: boolean;
}

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
