import { hasMethods, isRecord } from '../../lib/objects.js';
import type { PictureSize } from '../../lib/picture-size.js';
import type { Encoded } from '../../core/provider.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { MessagesBlock, MessagesMessage, MessagesTool } from '../../schema-types/messages.js';
import type { EventDecoder, EventLimits, StreamFrames } from '../../upstream/sse.js';
import type { Upstream } from '../../core/model.js';

/**
 * A chat call in the gateway's own form: validated, with aliases resolved and without unknown
 * fields. If the operation of a codec has `max: 1`, `n` is 1; if it has `image_urls: bytes`, all
 * images are data: URLs.
 */
export interface ChatCall {
  messages: readonly ChatMessage[];
  /** True if every message is only a role and a text. */
  is_plain?: boolean;
  stream: boolean;
  n: number;
  /** The max output tokens of each completion; undefined only if the model is free. */
  max_tokens: number | undefined;
  /** All other fields that are passed on: sampling, stop, tools, passthrough. */
  fields: Readonly<Record<string, unknown>>;
  /** The types of tools that the model takes without a price of their own. */
  tool_types?: ReadonlySet<string>;
  /** Set if it offers tools that upstreams run: how often one may run in an answer. */
  max_tool_calls?: number;
  /** Custom tools by name, in OpenAI's form; `tools` has them as functions with an `input`. */
  custom_tools?: ReadonlyMap<string, object>;
  /**
   * Set if the conversation is compacted: by a call of its own, by an item at the end of an
   * ordinary one, or earlier, so that it brings the compaction back. Only an upstream whose codec
   * has `compactionFormat` gets such a call.
   */
  compaction?: 'call' | 'item' | 'earlier';
  original?: MessagesOriginal;
  /**
   * Fields of a Messages API client that the gateway does not read and that cannot raise the cost,
   * for an upstream with the same API.
   */
  others?: readonly OtherField[];
  /**
   * The names of such fields within the blocks and tools of `original`, and of blocks of tools that
   * the upstream has run, as a header has them.
   */
  inner_others?: readonly string[];
}

/**
 * The request of a Messages API client in its own form, for an upstream with the same API. The rest
 * of the call has the same content; validation and the hold use that.
 */
export interface MessagesOriginal {
  system: readonly MessagesBlock[];
  messages: readonly MessagesMessage[];
  tools: readonly MessagesTool[];
  effort: string | undefined;
  /** Features that the client asks for in the header `anthropic-beta`. */
  betas: readonly string[];
}

/** A field of a body, at its path from the top. */
export interface OtherField {
  path: readonly [string] | readonly [string, string];
  value: unknown;
}

/**
 * The state of reasoning that an upstream demands back on the next turn, in OpenRouter's form: a
 * part of an assistant message, in the order of the answer. In a stream the parts of one `index`
 * follow each other, and the client joins their texts. A `compaction` stands for the conversation
 * before it, and is the only part of its message.
 */
export interface ReasoningDetail {
  type: 'reasoning.text' | 'reasoning.summary' | 'reasoning.encrypted' | 'compaction';
  text?: string;
  summary?: string;
  /** Encrypted state that only the upstream can read. */
  data?: string;
  /** The upstream's signature of the text. */
  signature?: string;
  id?: string;
  /** The kind of upstream, such as `anthropic-claude-v1`: others leave the part out. */
  format?: string;
  index?: number;
}

/** A call of a function. `arguments` are JSON as text. */
export interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/**
 * What a tool that the upstream runs itself has done, in the words of the upstream's API: a block
 * of Messages, or an item of Responses. Each format writes what it has a place for.
 */
export interface HostedPart {
  api: 'messages' | 'responses';
  part: Readonly<Record<string, unknown>>;
  /** How many characters of a whole answer's content came before, and how many thoughts. */
  at?: number;
  after?: number;
}

/** A source that a part of the content names, in the form of chat completions. */
export interface Annotation {
  type: 'url_citation';
  url_citation: { url: string; title: string; start_index: number; end_index: number };
}

export interface ChatChoice {
  index: number;
  content: string | null;
  /** The content is the model's refusal to answer, which OpenAI keeps apart from text. */
  is_refusal?: true;
  hosted_parts?: readonly HostedPart[];
  annotations?: readonly Annotation[];
  tool_calls?: ToolCall[];
  reasoning_content?: string;
  reasoning_details?: ReasoningDetail[];
  logprobs?: unknown;
  /** The upstream's own value; the gateway maps it to one of the contract's. */
  finish_reason: string | null;
  /** The stop sequence at which the answer ended, if the upstream reports it. */
  stop_sequence?: string;
}

/** A whole answer of an upstream. */
export interface ChatReply {
  choices: ChatChoice[];
  /** An `UpstreamUsage`; undefined if the upstream reported none. */
  usage?: unknown;
  /** Further fields of the answer, for a client that speaks the upstream's own API. */
  others?: Readonly<Record<string, unknown>>;
}

/**
 * A piece of a call. From `NamedCallDecoder` on, the first piece of an `index` has the ID and the
 * name; a codec gives both as they come, a name perhaps in pieces.
 */
export interface ToolCallFragment {
  index: number;
  id?: string;
  type?: 'function';
  function: { name?: string; arguments?: string };
}

/** A delta of a streamed answer: new text of one choice, the end of one, or usage seen so far. */
export interface ChatDelta {
  index?: number;
  content?: string;
  /** As in `ChatChoice`, of the content of this delta. */
  is_refusal?: true;
  hosted_parts?: readonly HostedPart[];
  annotations?: readonly Annotation[];
  reasoning_content?: string;
  /** How many characters of that only part it from the thought before. */
  parted_by?: number;
  reasoning_details?: ReasoningDetail[];
  tool_calls?: ToolCallFragment[];
  logprobs?: unknown;
  finish_reason?: string;
  stop_sequence?: string;
  /** An `UpstreamUsage`. Reports are merged: one that is missing or zero says nothing new. */
  usage?: unknown;
  /** As in `ChatReply`; `are_beside` if they stand beside the change of the answer, not in it. */
  others?: ChatReply['others'];
  are_beside?: true;
}

/** The words that a wire takes as names, or as IDs. */
export interface WordRule {
  /** Matches each character that it refuses; absent if it takes all. */
  illegal?: RegExp;
  /** Matches a first character that it takes; absent if all are as good. */
  first?: RegExp;
  /** The most characters; of a word with `is_exact` also the least. */
  max: number;
  is_exact?: true;
}

/**
 * What a wire takes of tools. Everything else in a call is replaced before its codec sees it, and
 * the client finds its own words in the answer.
 */
export interface ToolRules {
  names: WordRule;
  /** The IDs of calls; undefined if they go out as they came, with the signatures in them. */
  ids?: WordRule;
  /**
   * The names of the properties of arguments, for a wire that takes only the schema of one object,
   * without alternatives at its top; undefined if the wire takes all schemas.
   */
  properties?: WordRule;
}

/**
 * The parts of a prompt that is read once, apart from its files. Texts are counted by the gateway's
 * own vocabulary.
 */
export interface PromptParts {
  text_tokens: number;
  /** Of the tools that are offered, and of the form that the answer must have. */
  tool_tokens: number;
  schema_tokens: number;
  messages: number;
  /** The sizes of the images; undefined for one that does not tell its own. */
  images: readonly (PictureSize | undefined)[];
  /** The most tokens of one image, by which calls are held. */
  image_most: number;
}

/** Where a wire takes marks of what may be cached, beside messages and instructions. */
export interface MarkPlaces {
  tools: boolean;
}

/** A step behind the decoder of a stream, for the call as it was sent. */
export type StreamStep = (decoder: StreamDecoder, sent: ChatCall) => StreamDecoder;

/**
 * Translates chat calls and answers to and from one wire format. Pure: no I/O, no clock. Throws
 * `UpstreamError` for a body or event that breaks the wire format or holds an error.
 */
export interface ChatCodec {
  /**
   * Set if it reads no text of a message of the system, a user or a tool: it moves them, joins them
   * and looks whether they are blank. Large ones then reach the upstream as the bytes that came.
   */
  readonly moves_texts?: true;
  /**
   * Encodes the call for the wire. A field that the wire does not have is named in `ignored`.
   * Throws the `UpstreamError` `unsupported` with its `param` if leaving it out would change the
   * answer; a field of `original` is named as `original.messages[0]`.
   */
  encode(call: ChatCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: ChatCall, upstream: Upstream): ChatReply;
  /** Makes a decoder for one streamed answer. `step` is for `preparedCodec` alone. */
  decodeStream(call: ChatCall, upstream: Upstream, step?: StreamStep): StreamDecoder;
  /**
   * Makes a reader of frames if the stream is not server-sent events. It enforces the limits, as an
   * `EventReader` does.
   */
  openFrames?(limits: EventLimits): StreamFrames;
  /** What the wire takes of tools; by default all. */
  toolRules?(call: ChatCall, upstream: Upstream): ToolRules | undefined;
  /**
   * Where the wire takes the marks that `cache: auto` adds; undefined where it takes none, or its
   * upstream caches by itself.
   */
  cacheMarks?(upstream: Upstream): MarkPlaces | undefined;
  /**
   * The reasoning of an earlier answer as the wire sends it back, for estimates. Absent if none is
   * sent, or only such as the upstream itself has signed, which no client can make up.
   */
  reasoningSent?(message: ChatMessage, upstream: Upstream): string;
  /**
   * The format of the compactions that the upstream writes, and alone can read; undefined if it
   * compacts no conversations.
   */
  compactionFormat?(upstream: Upstream): string | undefined;
  /** An estimate of the tokens of a prompt; undefined where the upstream's own way is not known. */
  estimateTokens?(parts: PromptParts, call: ChatCall, upstream: Upstream): number | undefined;
}

/** Decodes the events of one streamed answer. */
export type StreamDecoder = EventDecoder<ChatDelta>;

const OPTIONAL = ['openFrames', 'toolRules', 'reasoningSent', 'compactionFormat', 'estimateTokens'];

/** Whether an adapter's export is a chat codec. */
export function isChatCodec(value: unknown): value is ChatCodec {
  if (!isRecord(value) || !hasMethods(value, ['encode', 'decode', 'decodeStream'])) return false;
  const optional = OPTIONAL.filter((name) => value[name] !== undefined);
  return hasMethods(value, optional);
}
