import type { TokenUsage } from '../../../core/usage.js';
import type { Annotation, ToolCall, ReasoningDetail } from '../codec.js';
import type { ChatRequest, ClientTools, AnswerHead } from '../call.js';
import { finishReason } from './openai-answer.js';
import { joinDetails, sealed } from './sealed-reasoning.js';
import { customInput } from '../../../lib/tool-arguments.js';
import { isRecord } from '../../../lib/objects.js';

export type Item = { id: string; type: string } & Record<string, unknown>;

/** How an answer ended; the details have the reason of an incomplete one. */
export interface ResponseStatus {
  status: 'completed' | 'incomplete';
  incomplete_details: { reason: string } | null;
}

/** Fields that clients expect, with the values of a response that is not stored. */
const NOTHING_KEPT = {
  error: null,
  frequency_penalty: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: null,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  user: null,
};

/**
 * The common part of all forms of one answer: its head, and the fields that repeat its request.
 */
export interface ResponseBase {
  head: AnswerHead;
  echo: ChatRequest['echo'];
}

/** The answer, complete or so far. */
export function response(
  { head, echo }: ResponseBase,
  output: readonly Item[],
  ending: ResponseStatus | { status: 'in_progress' | 'failed' },
  usage: TokenUsage | null,
): Record<string, unknown> {
  const { created, model, now } = head;
  return {
    id: responseId(head),
    object: 'response',
    created_at: created,
    completed_at: ending.status === 'completed' && now ? Math.floor(now() / 1000) : null,
    model,
    ...NOTHING_KEPT,
    ...echo,
    incomplete_details: null,
    ...ending,
    output,
    usage: usage && responsesUsage(usage),
  };
}

/** The ID of an item, unique by its position in the answer. */
export function itemId(kind: string, { id }: AnswerHead, at: number): string {
  return `${kind}_${plain(id)}_${at}`;
}

export function responseId({ id }: AnswerHead): string {
  return `resp_${plain(id)}`;
}

function plain(id: string): string {
  return id.replace(/^chatcmpl-/u, '');
}

export function responseStatus(
  finish: string | null | undefined,
  hasToolCalls: boolean,
): ResponseStatus {
  const reasons: Record<string, string> = {
    length: 'max_output_tokens',
    content_filter: 'content_filter',
  };
  const reason = reasons[finishReason(finish, hasToolCalls)];
  if (reason === undefined) return { status: 'completed', incomplete_details: null };
  return { status: 'incomplete', incomplete_details: { reason } };
}

function textPart({ text, logprobs, annotations = [] }: MessageText): object {
  return { type: 'output_text', text, annotations: annotations.map(flatAnnotation), logprobs };
}

/** A source in the form of this API, which is flatter than that of chat completions. */
export function flatAnnotation({ type, url_citation }: Annotation): object {
  return { type, ...url_citation };
}

/** What a message says: text, or the refusal of an answer. */
export interface MessageText {
  text: string;
  is_refusal?: boolean | undefined;
  logprobs: readonly unknown[];
  annotations?: readonly Annotation[] | undefined;
}

export function contentPart(message: MessageText): object {
  return message.is_refusal ? { type: 'refusal', refusal: message.text } : textPart(message);
}

export function messageItem(id: string, text: MessageText): Item {
  const content = [contentPart(text)];
  return { id, type: 'message', status: 'completed', role: 'assistant', content };
}

/** The log probabilities of a text's tokens, in the form of chat completions. */
export function logprobsOf(logprobs: unknown): readonly unknown[] {
  return isRecord(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : [];
}

/**
 * The items of an answer with that status: of an incomplete answer, the last item is incomplete.
 */
export function withLastStatus(
  items: readonly Item[],
  status: ResponseStatus['status'],
): readonly Item[] {
  if (status === 'completed') return items;
  return items.map((item, at) => (at === items.length - 1 ? { ...item, status } : item));
}

export function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}

/** Reasoning with its state, which the client sends back on the next turn. */
export function reasoningItem(id: string, text: string, details: readonly ReasoningDetail[]): Item {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [summaryPart(text)],
    ...(details.length > 0 && { encrypted_content: sealed(joinDetails(details)) }),
  };
}

/** The state of reasoning in an answer, and its compactions. */
export function splitDetails(
  details: readonly ReasoningDetail[] = [],
): [reasoning: ReasoningDetail[], compactions: ReasoningDetail[]] {
  const isCompaction = ({ type }: ReasoningDetail): boolean => type === 'compaction';
  return [details.filter((one) => !isCompaction(one)), details.filter(isCompaction)];
}

/** What stands for the conversation so far, and can be read by its upstream alone. */
export function compactionItem(id: string, detail: ReasoningDetail): Item {
  return { id, type: 'compaction', encrypted_content: sealed([detail]) };
}

/** A tool call with the name and form that the client knows. */
export function callItem(id: string, call: ToolCall, tools: ClientTools | undefined): Item {
  const { name, arguments: args } = call.function;
  const known = tools?.get(name) ?? { name };
  const head = { status: 'completed', call_id: call.id, name: known.name };
  const space = known.namespace === undefined ? {} : { namespace: known.namespace };
  if (known.is_custom) {
    return { id, type: 'custom_tool_call', ...head, ...space, input: customInput(args) };
  }
  return { id, type: 'function_call', ...head, ...space, arguments: args || '{}' };
}

export function responsesUsage(usage: TokenUsage): object {
  const { prompt_tokens, completion_tokens } = usage;
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: {
      cached_tokens: usage.cached_tokens ?? 0,
      cache_write_tokens: usage.cache_write_tokens ?? 0,
      ...(usage.cache_write_1h_tokens && { cache_write_1h_tokens: usage.cache_write_1h_tokens }),
    },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: prompt_tokens + completion_tokens,
  };
}
