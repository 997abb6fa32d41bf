import type {
  ChatCompletionBody,
  ChatMessage,
  ToolEntry,
} from '../../../schema-types/chat-completion.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import type { ChatFormat } from './format.js';
import { ChunkWriter, completion } from './openai-answer.js';
import { callFormat } from './openai-calls.js';
import { ClientNames } from '../client-names.js';
import { saysNothing, spokenTurns } from './empty-turns.js';
import { CHAT_TEXTS } from './openai-texts.js';
import { repairBody } from './openai-tidy.js';
import { asFunctions } from './openai-tools.js';
import { fieldError, GatewayError } from '../../../core/errors.js';
import { refuseDeep } from '../../../pipeline/nesting.js';
import {
  readMessage,
  type MessageReader,
  cacheControlField,
  measureText,
} from './openai-messages.js';
import { isFree, type Capability, type Model } from '../../../core/model.js';
import { headerSafe, noteUnknownFields } from '../../../http/ignored-header.js';
import type { MediaFile } from '../../../lib/media-reader.js';
import { isRecord } from '../../../lib/objects.js';
import type { SourceTexts } from '../../../lib/source-texts.js';
import { needsFolding } from '../../../lib/tool-schema.js';
import type { ChatRequest, PromptSize } from '../call.js';
import type { ChatCall } from '../codec.js';
import { neededCapabilities } from './needs.js';
import { takesTier } from '../cost-guard.js';
import { DEFAULT_TOOL_CALLS } from '../hosted-tools.js';
import { withoutOwnTools } from './own-tools.js';
import { movedInChat } from './moved-texts.js';

/** The chat format of the service specification (2.1 to 2.5). */
export const chatCompletion: ChatFormat = {
  name: 'chat-completion',
  endpoint: spendingEndpoint('chat', 'POST /v1/chat/completions', {
    modality: 'chat',
    format: 'chat-completion',
  }),
  description: {
    summary: 'Create a chat completion',
    details: 'With `stream: true` the answer is a stream of events that ends with `[DONE]`.',
    status: 200,
    content: {
      'application/json': 'chat-completion-response',
      'text/event-stream': 'chat-completion-chunk',
    },
  },
  repair: repairBody,
  needs: neededCapabilities,
  texts: CHAT_TEXTS,
  findMoved: movedInChat,
  modelOf: (body) => (body as ChatCompletionBody).model,
  // The body was validated, and its type is generated from the schema.
  read: (body, model, _, texts) => completionRequest(body as ChatCompletionBody, model, texts),
  write: (head, reply, { usage }, request) => completion(head, reply, usage, request),
  stream: (head, visible, request) =>
    new ChunkWriter(head, visible, { object: 'text_completion.chunk', calls: callFormat(request) }),
};

/**
 * Fields of the chat contract that the gateway reads itself: the cost of a call depends on them.
 */
export const READ_FIELDS: readonly string[] = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
];

/** Fields of specification 2.1 that are passed on unchanged. */
export const SAMPLING_FIELDS: readonly string[] = [
  'temperature',
  'top_p',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  'user',
];

/** The older form of tools and tool choice, which is translated. */
export const LEGACY_FIELDS: readonly string[] = ['functions', 'function_call'];

/** Fields that are passed on to a model with the capability `tools`. */
export const TOOL_FIELDS: readonly string[] = ['tools', 'tool_choice', 'parallel_tool_calls'];

/**
 * Fields that another format must not pass on from its client, except its `own`: its schema does
 * not check them, and the cost of a call may depend on them.
 */
export function foreignFields(own: readonly string[]): ReadonlySet<string> {
  const all = [...READ_FIELDS, ...SAMPLING_FIELDS, ...TOOL_FIELDS, ...RENAMED_FIELDS];
  return new Set(all.filter((name) => !own.includes(name)));
}

/** Fields that other formats have under names of their own. */
const RENAMED_FIELDS = ['response_format', 'reasoning_effort'];

/** The limit of output tokens if neither the client nor gateway.yaml has one. */
export const DEFAULT_MAX_TOKENS = 4096;

/** These are neither passed on unchanged nor named as ignored. */
const READ = new Set(READ_FIELDS);
const SAMPLING = new Set(SAMPLING_FIELDS);
const TOOLS = new Set(TOOL_FIELDS);
const STREAM_OPTIONS = new Set(['include_usage']);
/** The keys of a message that says nothing. */
const EMPTY_KEYS = new Set(['role', 'content', 'name', 'tool_calls', 'cache_control']);
const FUNCTION_KEYS = new Set(['type', 'function', 'cache_control']);

/**
 * Fits a validated body of chat completions to a model, with tools in any form. Throws
 * `GatewayError` if the tools are not valid, or if the model cannot do it.
 */
export function completionRequest(
  body: ChatCompletionBody,
  model: Model,
  texts?: SourceTexts,
): ChatRequest {
  const { messages: given } = body;
  if (!given.some(saysNothing)) return translatedRequest(body, model, texts);
  const names = new ClientNames(new Map());
  given.forEach((message, at) => names.place(message, `messages[${at}]`));
  const { messages, left_out } = spokenTurns(given, names, 'messages');
  const request = names.reading(messages, () =>
    translatedRequest({ ...body, messages }, model, texts),
  );
  const ignored = new Set(request.ignored);
  for (const message of left_out) noteUnknownFields(message, EMPTY_KEYS, 'messages[]', ignored);
  return { ...request, names, ignored: [...ignored] };
}

function translatedRequest(
  body: ChatCompletionBody,
  model: Model,
  texts: SourceTexts | undefined,
): ChatRequest {
  if (!body.tools && !body.functions && !body.function_call) return chatRequest(body, model, texts);
  const translated = asFunctions(body);
  return translated.complete(chatRequest(translated.body, model, texts));
}

/**
 * Fits a validated body to a model: capabilities, aliases, passthrough, limits (specification 2.1
 * to 2.3). Throws `GatewayError` if the model cannot do it.
 */
export function chatRequest(
  given: ChatCompletionBody,
  model: Model,
  texts?: SourceTexts,
): ChatRequest {
  const ignored = new Set<string>();
  const body = withoutOwnTools(given, model, ignored);
  const requested = requestedLimit(body);
  const { messages, is_plain, size, media } = readMessages(
    body.messages,
    model.capabilities,
    ignored,
    texts,
  );
  const call: ChatCall = {
    messages,
    is_plain,
    stream: body.stream ?? false,
    n: body.n ?? 1,
    max_tokens: limitOf(requested, model),
    fields: passedOn(body, model, size, ignored),
    ...hostedTools(body, model),
  };
  const options: { include_usage?: unknown } | undefined = body.stream_options;
  if (options) noteUnknownFields(options, STREAM_OPTIONS, 'stream_options', ignored);
  return {
    call,
    size,
    media,
    ...(options?.include_usage === true && { include_usage: true }),
    ignored: [...ignored],
    limit: body.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens',
    is_lowered: requested !== undefined && requested !== call.max_tokens,
  };
}

/** The default values of fields; without `max_tokens` for a free model without a limit. */
export function chatDefaults(model: Model): Record<string, number | boolean> {
  const max_tokens = limitOf(undefined, model);
  return { n: 1, stream: false, ...(max_tokens !== undefined && { max_tokens }) };
}

/**
 * Checks messages against the capabilities of a model, drops unknown fields and measures the
 * prompt, in one pass. Throws `GatewayError` naming the message or part at fault.
 */
function readMessages(
  messages: readonly ChatMessage[],
  capabilities: ReadonlySet<Capability>,
  ignored: Set<string>,
  texts: SourceTexts | undefined,
): Pick<ChatRequest, 'size' | 'media'> & Pick<ChatCall, 'messages'> & { is_plain: boolean } {
  const size: PromptSize = {
    text_bytes: 0,
    messages: messages.length,
    images: 0,
    urls: 0,
    pages: 0,
    audio_bytes: 0,
    audio_seconds: 0,
    unread_pages: 0,
    unread_seconds: 0,
  };
  let is_plain = true;
  const media: MediaFile[] = [];
  const called = new Map<string, number>();
  const reader: MessageReader = { capabilities, ignored, size, called, media, texts };
  const read: ChatMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const { content } = message;
    if (typeof content === 'string') measureText(content, reader);
    const isWhole = isPlain(message);
    is_plain &&= isWhole;
    read.push(isWhole ? message : readMessage(message, `messages[${index}]`, reader));
  }
  return { messages: read, is_plain, size, media };
}

/** Whether a message is only a role and a text, and is sent unchanged. */
function isPlain(message: ChatMessage): boolean {
  const { role, content } = message;
  if (typeof content !== 'string' || role === 'tool' || role === 'developer') return false;
  for (const name in message) if (name !== 'role' && name !== 'content') return false;
  return true;
}

const TIER = 'service_tier';
const MAX_TOOL_CALLS = 'max_tool_calls';

/** What holds for the tools of a body that upstreams run; nothing if it offers none. */
function hostedTools(
  body: ChatCompletionBody,
  { tool_types, limits }: Model,
): Pick<ChatCall, 'tool_types' | 'max_tool_calls'> {
  if (!body.tools?.some(({ type }) => type !== 'function')) return {};
  const { [MAX_TOOL_CALLS]: asked } = body as { max_tool_calls?: unknown };
  const most = limits.tool_calls ?? DEFAULT_TOOL_CALLS;
  const isLess = Number.isSafeInteger(asked) && Number(asked) > 0 && Number(asked) < most;
  return { ...(tool_types && { tool_types }), max_tool_calls: isLess ? Number(asked) : most };
}

function passedOn(
  body: ChatCompletionBody,
  model: Model,
  size: PromptSize,
  ignored: Set<string>,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const tools = body.tools?.map((tool) =>
    tool.type === 'function' ? cleanFunction(tool, ignored) : tool,
  );
  const idle = idleFields(body);
  const hasHosted = tools?.some(({ type }) => type !== 'function') === true;
  for (const name of Object.keys(body)) {
    if (READ.has(name)) continue;
    const given: unknown = body[name as keyof ChatCompletionBody];
    if (given === null || idle.has(name) || (hasHosted && name === MAX_TOOL_CALLS)) continue;
    if (name === TIER && model.upstreams.some((upstream) => takesTier(given, upstream))) {
      fields[TIER] = given;
      continue;
    }
    const value = name === 'tools' ? tools : given;
    if (SAMPLING.has(name)) fields[name] = value;
    else if (model.passthrough.has(name) || (TOOLS.has(name) && model.capabilities.has('tools'))) {
      refuseDeep(name, value);
      fields[name] = value;
      // Tools and schemas are read by the model too, so they count as prompt.
      size.text_bytes += Buffer.byteLength(JSON.stringify(value));
      if (name === 'tools') size.text_bytes += foldedBytes(tools ?? []);
    } else ignored.add(headerSafe(name));
  }
  return fields;
}

/** The bytes of the schemas that some upstreams get twice: folded, and in a description. */
function foldedBytes(tools: readonly ToolEntry[]): number {
  const schemas: unknown[] = [];
  for (const { function: offered } of tools) {
    const parameters = isRecord(offered) ? offered.parameters : undefined;
    if (isRecord(parameters) && needsFolding(parameters)) schemas.push(parameters);
  }
  return schemas.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(schemas));
}

const NONE: ReadonlySet<string> = new Set();

/**
 * The fields that ask for nothing, which some upstreams refuse: empty lists, and those that speak
 * of tools where there are none. Throws `GatewayError` if a tool must be called all the same.
 */
function idleFields({ tools, tool_choice, parallel_tool_calls, stop }: ChatCompletionBody) {
  const isStopIdle = Array.isArray(stop) && stop.length === 0;
  const hasTools = tools !== undefined && tools.length > 0;
  const saysTools = tools ?? tool_choice ?? parallel_tool_calls;
  if (!isStopIdle && (hasTools || saysTools === undefined)) return NONE;
  const idle = new Set(isStopIdle ? ['stop'] : []);
  if (hasTools) return idle;
  if (tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none') {
    throw fieldError('tool_choice', 'demands a tool, but there are none');
  }
  for (const name of TOOL_FIELDS) idle.add(name);
  return idle;
}

function requestedLimit({
  max_tokens: old,
  max_completion_tokens: alias,
}: ChatCompletionBody): number | undefined {
  if (old !== undefined && alias !== undefined && old !== alias) {
    throw new GatewayError(
      'invalid_request',
      'max_tokens and max_completion_tokens mean the same; send one of them.',
      { param: 'max_completion_tokens' },
    );
  }
  return alias ?? old;
}

/**
 * The limit of output tokens. A paid call always has one, so that its cost stays within its hold.
 */
function limitOf(requested: number | undefined, model: Model): number | undefined {
  const { max_tokens: most, default_max_tokens } = model.limits;
  if (requested !== undefined) return most === undefined ? requested : Math.min(requested, most);
  return default_max_tokens ?? most ?? (isFree(model) ? undefined : DEFAULT_MAX_TOKENS);
}

function cleanFunction(tool: ToolEntry, ignored: Set<string>): ToolEntry {
  const { type, function: offered, cache_control } = tool;
  const isClean = Object.keys(tool).every((name) => FUNCTION_KEYS.has(name));
  if (isClean && !cache_control) return tool;
  noteUnknownFields(tool, FUNCTION_KEYS, 'tools[]', ignored);
  return { type, ...(offered && { function: offered }), ...cacheControlField(cache_control) };
}
