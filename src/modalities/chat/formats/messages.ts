import { JsonTexts } from '../../../lib/json-text.js';
import { dropNulls, isRecord, recordsIn } from '../../../lib/objects.js';
import { argumentsObject } from '../../../lib/tool-arguments.js';
import { ERRORS, GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import type { TokenUsage } from '../../../core/usage.js';
import type { RatesLeft } from '../../../pipeline/modality.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import type { MessagesBody } from '../../../schema-types/messages.js';
import type { ChatChoice, ChatReply, HostedPart, ReasoningDetail } from '../codec.js';
import type { AnswerHead } from '../call.js';
import type { ChatFormat } from './format.js';
import { hostedBlocks } from './hosted-search.js';
import { contextWords } from './messages-context.js';
import { anthropicModels } from './model-lists.js';
import { carriedState, ending, MessagesWriter } from './messages-stream.js';
import { BETAS, originalOf, toCompletion } from './messages-request.js';
import { MESSAGES_TEXTS } from './messages-texts.js';
import { guessPromptTokens } from '../price.js';
import { chatRequest } from './chat-completion.js';
import { neededCapabilities } from './needs.js';
import { movedInMessages } from './moved-texts.js';

/** Anthropic's Messages API, for its SDKs and Claude Code, with every chat model. */
export const messages: ChatFormat = {
  name: 'messages',
  key_header: 'x-api-key',
  id_header: 'request-id',
  owns: (_, path) => /^\/v1\/messages(?:\/|$)/u.test(path),
  models: anthropicModels,
  headers: [BETAS],
  endpoint: spendingEndpoint('messages', 'POST /v1/messages', {
    modality: 'chat',
    format: 'messages',
  }),
  description: {
    summary: "Create a message, in Anthropic's format",
    details: 'With `stream: true` the answer is a stream of events that ends with `message_stop`.',
    status: 200,
    content: {
      'application/json': 'messages#/$defs/answer',
      'text/event-stream': 'messages#/$defs/event',
    },
  },
  repair: repairTurns,
  needs: neededCapabilities,
  texts: MESSAGES_TEXTS,
  findMoved: movedInMessages,
  modelOf: (body) => (body as MessagesBody).model,
  read: (body, model, headers, texts) => {
    // The body was validated, and its type is generated from the schema.
    const sent = body as MessagesBody;
    refuseThread(sent);
    refuseTooMany(sent, model);
    const translated = toCompletion(sent, model);
    const { completion, ignored, names, is_whole, others, inner_others } = translated;
    const request = names.reading(completion.messages, () => chatRequest(completion, model, texts));
    const own = is_whole ? { original: originalOf(sent, headers) } : {};
    // The model may read them.
    request.size.text_bytes += Buffer.byteLength(JSON.stringify(others)) + translated.inner_bytes;
    const { type = 'disabled' } = sent.thinking ?? {};
    return {
      ...request,
      call: { ...request.call, ...own, others, inner_others },
      names,
      shows_reasoning: type !== 'disabled',
      ignored: [...new Set([...request.ignored.map((name) => names.ofIgnored(name)), ...ignored])],
    };
  },
  write: (head, reply, { usage }) => message(head, reply, usage),
  stream: (head, visible, request) => {
    const options = { usageOf: messagesUsage, errorOf, prompt_tokens: guessPromptTokens(request) };
    return new MessagesWriter(messageHead(head), visible, options);
  },
  error: errorOf,
  rateHeaders,
  error_schema: 'messages#/$defs/error',
};

/**
 * Repairs the turns of clients that write null for what is absent: an assistant's content, and
 * fields of blocks and tools.
 */
export function repairTurns(body: unknown): boolean {
  if (!isRecord(body)) return false;
  let hasChanges = false;
  for (const message of recordsIn(body.messages)) {
    if (message.role === 'assistant' && (message.content ?? null) === null) {
      message.content = [];
      hasChanges = true;
    }
    for (const block of recordsIn(message.content)) if (dropNulls(block)) hasChanges = true;
  }
  for (const tool of recordsIn(body.tools)) if (dropNulls(tool)) hasChanges = true;
  return hasChanges;
}

/**
 * Refuses a conversation that the server is to keep, in the words on which Anthropic's own client
 * sends the whole conversation itself.
 */
function refuseThread({ thread }: MessagesBody): void {
  if (!thread) return;
  const message = 'thread cannot be used, as messages are not kept: send the whole conversation.';
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  throw new GatewayError('invalid_request', message, { param: 'thread', details });
}

/**
 * Refuses too many output tokens in the exact wording that Claude Code recognizes: it then asks
 * again with the largest limit allowed.
 */
function refuseTooMany({ max_tokens = 0 }: MessagesBody, { limits }: Model): void {
  const max = limits.max_tokens ?? Infinity;
  if (max_tokens <= max) return;
  const message =
    `max_tokens: ${max_tokens} > ${max}, which is the maximum allowed number of output tokens ` +
    'for this model';
  throw new GatewayError('invalid_request', message, { param: 'max_tokens' });
}

function messageHead({ id, model }: AnswerHead): object {
  const named = `msg_${id.replace(/^chatcmpl-/u, '')}`;
  return { id: named, type: 'message', role: 'assistant', model };
}

function message(head: AnswerHead, reply: ChatReply, usage: TokenUsage): object {
  const [choice] = reply.choices;
  return {
    ...reply.others,
    ...messageHead(head),
    content: choice ? blocksOf(choice) : [],
    ...ending(choice?.finish_reason, Boolean(choice?.tool_calls), choice?.stop_sequence),
    usage: messagesUsage(usage),
  };
}

function blocksOf({
  content,
  hosted_parts,
  reasoning_content,
  reasoning_details,
  tool_calls,
}: ChatChoice) {
  const texts = new JsonTexts();
  const thoughts = (reasoning_details ?? []).map(thoughtBlocks);
  return [
    ...unsignedThoughts(thoughts, reasoning_content),
    ...spokenBlocks(content ?? '', thoughts, hosted_parts ?? []),
    ...(tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
      type: 'tool_use',
      id,
      name,
      input: argumentsObject(args, texts),
    })),
  ];
}

/**
 * Thoughts and text in pieces, between the blocks of the tools that the upstream has run: Claude
 * refuses thoughts that come back in another order.
 */
function spokenBlocks(
  content: string,
  thoughts: readonly object[][],
  parts: readonly HostedPart[],
): object[] {
  const blocks: object[] = [];
  let [from, thought] = [0, 0];
  const say = (to: number, after: number): void => {
    blocks.push(...thoughts.slice(thought, after).flat());
    if (to > from) blocks.push({ type: 'text', text: content.slice(from, to) });
    [from, thought] = [Math.max(from, to), Math.max(thought, after)];
  };
  for (const part of parts) {
    say(part.at ?? 0, part.after ?? thoughts.length);
    blocks.push(...hostedBlocks(part));
  }
  say(content.length, thoughts.length);
  return blocks;
}

/** The block of a thought, with its state unchanged; none if there is nothing in it. */
function thoughtBlocks(detail: ReasoningDetail): object[] {
  const { type, text: thinking, signature, data } = detail;
  if (type === 'reasoning.encrypted') {
    return data ? [{ type: 'redacted_thinking', data: carriedState(detail, data) }] : [];
  }
  const proof = signature ? carriedState(detail, signature) : '';
  return thinking || proof
    ? [{ type: 'thinking', thinking: thinking ?? '', signature: proof }]
    : [];
}

/** All of the reasoning in one block without a signature, where no thought has a text. */
function unsignedThoughts(thoughts: readonly object[][], text: string | undefined): object[] {
  if (!text || thoughts.flat().some((block) => 'thinking' in block)) return [];
  return [{ type: 'thinking', thinking: text, signature: '' }];
}

/** The usage as this API writes it: each token of the prompt counts in one class only. */
function messagesUsage({
  prompt_tokens,
  completion_tokens,
  cached_tokens = 0,
  cache_write_tokens = 0,
  cache_write_1h_tokens = 0,
  tool_calls: { web_search, web_fetch } = {},
}: TokenUsage): object {
  const written = cache_write_tokens + cache_write_1h_tokens;
  return {
    input_tokens: Math.max(0, prompt_tokens - cached_tokens - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached_tokens,
    ...(cache_write_1h_tokens > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: cache_write_tokens,
        ephemeral_1h_input_tokens: cache_write_1h_tokens,
      },
    }),
    output_tokens: completion_tokens,
    ...((web_search ?? web_fetch) && {
      server_tool_use: {
        web_search_requests: web_search ?? 0,
        web_fetch_requests: web_fetch ?? 0,
      },
    }),
  };
}

function rateHeaders(left: RatesLeft): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [unit, { limit, remaining, reset_ms }] of Object.entries(left)) {
    const name = `anthropic-ratelimit-${unit}`;
    headers[`${name}-limit`] = String(limit);
    headers[`${name}-remaining`] = String(remaining);
    headers[`${name}-reset`] = new Date(reset_ms).toISOString();
  }
  return headers;
}

/** Error types of this API that differ from the gateway's. */
const TYPES: Readonly<Record<string, string>> = {
  insufficient_balance_error: 'billing_error',
  unavailable_error: 'overloaded_error',
  upstream_error: 'api_error',
  internal_error: 'api_error',
};

function errorOf(error: GatewayError, request_id?: string): object {
  const { type } = ERRORS[error.code];
  const message =
    error.code === 'context_length_exceeded' ? contextWords(error.message) : error.message;
  const word = error.status === 404 ? 'not_found_error' : (TYPES[type] ?? type);
  return {
    type: 'error',
    error: {
      type: error.status === 413 ? 'request_too_large' : word,
      message,
      ...(error.details && { details: error.details }),
    },
    ...(request_id !== undefined && { request_id }),
  };
}
