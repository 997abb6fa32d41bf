import type { Upstream } from '../../src/core/model.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { recordsIn } from '../../src/lib/objects.js';
import { JsonTexts } from '../../src/lib/json-text.js';
import { customInput } from '../../src/lib/tool-arguments.js';
import type { ChatCall, ReasoningDetail } from '../../src/modalities/chat/codec.js';
import type { ChatMessage, ContentPart } from '../../src/schema-types/chat-completion.js';

/** The messages of a call as items, and the names of fields that items do not have. */
export interface Input {
  input: readonly object[];
  ignored: readonly string[];
}

/**
 * The messages as input items. Throws the `UpstreamError` `unsupported` for a part that the API
 * does not have.
 */
export function inputOf({ messages, custom_tools }: ChatCall, { provider }: Upstream): Input {
  const context: Context = {
    ignored: new Set(),
    custom_names: new Set(custom_tools?.keys()),
    custom_calls: new Set(),
    format: reasoningFormat(provider),
    texts: new JsonTexts(),
  };
  const input = messages.flatMap((message, at) => itemsOf(message, `messages[${at}]`, context));
  return { input, ignored: [...context.ignored] };
}

/**
 * Whose form a reasoning detail, or a compaction, has: only the account that encrypted it can read
 * it, so it goes back to the provider of that name alone.
 */
export function reasoningFormat({ name }: Upstream['provider']): string {
  return `openai-responses/${name}`;
}

interface Context {
  ignored: Set<string>;
  custom_names: ReadonlySet<string>;
  /** The IDs of the calls of custom tools so far. */
  custom_calls: Set<string>;
  format: string;
  texts: JsonTexts;
}

function itemsOf(message: ChatMessage, place: string, context: Context): object[] {
  const { role, content, name, cache_control, is_error } = message;
  if (name !== undefined) context.ignored.add('messages[].name');
  if (cache_control) context.ignored.add('messages[].cache_control');
  if (is_error) context.ignored.add('messages[].is_error');
  if (role === 'tool') return [resultOf(message, place, context)];
  if (role === 'assistant') {
    return [...compactionsOf(message, context), ...assistantItems(message, place, context)];
  }
  return [{ type: 'message', role, content: contentOf(content ?? '', place, context) }];
}

function resultOf(
  { tool_call_id: call_id = '', content }: ChatMessage,
  place: string,
  { ignored, custom_calls }: Context,
): object {
  const type = custom_calls.has(call_id) ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id, output: contentOf(content ?? '', place, { ignored }) };
}

/**
 * The items of one answer, in the order in which models write them. The reasoning before the text
 * stands first, and all other reasoning before the calls: each must be followed by its result.
 */
function assistantItems(message: ChatMessage, place: string, context: Context): object[] {
  const calls = message.tool_calls?.map((call) => callOf(call, context)) ?? [];
  const texts = textsOf(message, place, context);
  const reasoning = recordsIn(message.reasoning_details).flatMap((one) => stateOf(one, context));
  if (texts.length === 0) return calls.length === 0 ? [] : [...reasoning, ...calls];
  const said = { type: 'message', role: 'assistant', content: texts };
  const before = calls.length > 0 ? 1 : reasoning.length;
  return [...reasoning.slice(0, before), said, ...reasoning.slice(before), ...calls];
}

/** The upstream compacted the conversation itself, and gets what stands for it unchanged. */
function compactionsOf({ reasoning_details }: ChatMessage, { format }: Context): object[] {
  return recordsIn(reasoning_details).flatMap((detail: Partial<ReasoningDetail>) => {
    const { type, data, id } = detail;
    if (type !== 'compaction' || detail.format !== format || typeof data !== 'string') return [];
    return [{ type, ...(typeof id === 'string' && { id }), encrypted_content: data }];
  });
}

function stateOf(detail: Partial<ReasoningDetail>, { format }: Context): object[] {
  const { type, data } = detail;
  if (type !== 'reasoning.encrypted' || detail.format !== format) return [];
  return typeof data === 'string'
    ? [{ type: 'reasoning', summary: [], encrypted_content: data }]
    : [];
}

function callOf(
  {
    id: call_id,
    function: { name, arguments: args },
  }: NonNullable<ChatMessage['tool_calls']>[number],
  { custom_names, custom_calls, texts }: Context,
): object {
  if (!custom_names.has(name)) return { type: 'function_call', call_id, name, arguments: args };
  custom_calls.add(call_id);
  return { type: 'custom_tool_call', call_id, name, input: customInput(args, texts) };
}

function contentOf(
  content: string | readonly ContentPart[],
  place: string,
  context: Pick<Context, 'ignored'>,
): string | object[] {
  if (typeof content === 'string') return content;
  return content.map((part, at) => partOf(part, `${place}.content[${at}]`, context));
}

function partOf(part: ContentPart, place: string, { ignored }: Pick<Context, 'ignored'>): object {
  if ('cache_control' in part) ignored.add('messages[].content[].cache_control');
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'image_url') {
    const { url, detail } = part.image_url;
    return { type: 'input_image', image_url: url, ...(detail && { detail }) };
  }
  if (part.type !== 'file') throw unsupported(place, 'audio');
  const { file_data, ...file } = part.file;
  if (file_data === undefined) return { type: 'input_file', ...file };
  const isUrl = /^https?:/iu.test(file_data);
  return { type: 'input_file', ...file, [isUrl ? 'file_url' : 'file_data']: file_data };
}

/** The texts of an answer. It has no other parts. */
function textsOf({ content }: ChatMessage, place: string, { ignored }: Context): object[] {
  if (!content) return [];
  if (typeof content === 'string') return [{ type: 'output_text', text: content }];
  return content.map((part, at) => {
    if (part.type !== 'text') throw unsupported(`${place}.content[${at}]`, part.type);
    if (part.cache_control) ignored.add('messages[].content[].cache_control');
    return { type: 'output_text', text: part.text };
  });
}

function unsupported(place: string, kind: string): UpstreamError {
  const message = `${place}: this upstream takes no ${kind} there.`;
  return new UpstreamError('unsupported', message, undefined, { param: place });
}
