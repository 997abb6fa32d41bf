import { isRecord } from '../../../lib/is-record.js';
import type {
  ChatCompletionBody,
  ChatMessage,
  ContentPart,
  ToolCallPart,
  ToolEntry,
} from '../../../schema-types/chat-completion.js';
import type {
  MessagesBlock,
  MessagesBody,
  MessagesMessage,
  MessagesTool,
} from '../../../schema-types/messages.js';
import type { Model } from '../../../core/model.js';
import type { ReasoningDetail } from '../codec.js';

/** Reasoning of this form goes back to Claude alone. */
export const CLAUDE_FORMAT = 'anthropic-claude-v1';

/** Stands in the list of tools for those that a client loads later; it cannot be called. */
const PLACEHOLDER = 'DeferredToolPlaceholder';

/** Fields that are said in other words below; all others travel or are named as ignored. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'system',
  'messages',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'metadata',
]);

/** The budget of thinking up to which an effort is meant, where a model takes efforts alone. */
const EFFORTS = [
  { effort: 'low', budget_tokens: 4_096 },
  { effort: 'medium', budget_tokens: 16_384 },
] as const;

/** A request of the Messages API in the words of chat completions. */
export function toCompletion(body: MessagesBody, model: Model): ChatCompletionBody {
  const { system, messages, stop_sequences, tools, metadata, output_config } = body;
  const others = Object.entries(body).filter(
    ([name, value]) => !TRANSLATED.has(name) && value !== null,
  );
  const own: Record<string, unknown> = {
    stop: stop_sequences?.length ? stop_sequences : undefined,
    tools: tools?.length ? tools.filter(({ name }) => name !== PLACEHOLDER).map(toolOf) : undefined,
    ...choiceOf(body.tool_choice),
    ...thinkingOf(body, model),
    response_format: formatOf(output_config?.format),
    user: metadata?.user_id,
  };
  const said = Object.entries(own).filter(([, value]) => value !== undefined && value !== null);
  return {
    model: body.model,
    messages: [
      ...(system?.length ? [{ role: 'system' as const, content: contentOf(system) }] : []),
      ...messages.flatMap(messagesOf),
    ],
    ...Object.fromEntries([...others.filter(([name]) => name !== 'model'), ...said]),
  };
}

function toolOf({
  type,
  name,
  description,
  input_schema,
  strict,
  ...rest
}: MessagesTool): ToolEntry {
  const { cache_control } = rest;
  // A tool that the upstream runs itself keeps its form: a model lists the types that it takes.
  if (type && type !== 'custom') return { type, name, ...rest } as ToolEntry;
  const parameters = input_schema ?? { type: 'object', properties: {} };
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters,
      ...(typeof strict === 'boolean' && { strict }),
    },
    ...(cache_control && { cache_control }),
  };
}

function choiceOf(choice: MessagesBody['tool_choice']): Record<string, unknown> {
  if (!choice) return {};
  const { type, name, disable_parallel_tool_use } = choice;
  const words = { auto: 'auto', any: 'required', none: 'none' } as const;
  return {
    tool_choice: type === 'tool' ? { type: 'function', function: { name } } : words[type],
    ...(disable_parallel_tool_use === true && { parallel_tool_calls: false }),
  };
}

/** Thinking as it is where the model takes it so, else as the effort that comes nearest. */
function thinkingOf(
  { thinking, output_config }: MessagesBody,
  { passthrough }: Model,
): Record<string, unknown> {
  const effort = output_config?.effort ?? undefined;
  const said =
    effort === undefined ? {} : { reasoning_effort: effort === 'max' ? 'xhigh' : effort };
  if (!thinking) return said;
  if (passthrough.has('thinking') || !passthrough.has('reasoning_effort')) {
    return { ...said, thinking };
  }
  if (thinking.type === 'disabled') return { reasoning_effort: 'none' };
  const { budget_tokens } = thinking;
  if (effort !== undefined || budget_tokens === undefined) return said;
  const near = EFFORTS.find((one) => budget_tokens <= one.budget_tokens);
  return { reasoning_effort: near?.effort ?? 'high' };
}

function formatOf(format: NonNullable<MessagesBody['output_config']>['format']): unknown {
  if (!format?.schema) return undefined;
  const json_schema = { name: 'answer', schema: format.schema, strict: true };
  return { type: 'json_schema', json_schema };
}

function messagesOf({ role, content }: MessagesMessage): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'assistant') return [assistantOf(content)];
  // The results of tools come before anything else that the user says.
  const results = content.filter(({ type }) => type === 'tool_result').map(resultOf);
  const rest = content.filter(({ type }) => type !== 'tool_result');
  return rest.length === 0 ? results : [...results, { role, content: contentOf(rest) }];
}

function assistantOf(blocks: readonly MessagesBlock[]): ChatMessage {
  const reasoning_details = blocks.flatMap(reasoningOf);
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(callOf);
  const content = contentOf(blocks.filter(({ type }) => type === 'text'));
  return {
    role: 'assistant',
    content: content.length === 0 && calls.length > 0 ? null : content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(reasoning_details.length > 0 && { reasoning_details }),
  };
}

function reasoningOf(block: MessagesBlock): ReasoningDetail[] {
  const { type, thinking, signature, data } = block;
  if (type === 'redacted_thinking' && data !== undefined) {
    return [{ type: 'reasoning.encrypted', data, format: CLAUDE_FORMAT }];
  }
  if (type !== 'thinking' || thinking === undefined) return [];
  const signed = signature === undefined ? {} : { signature };
  return [{ type: 'reasoning.text', text: thinking, ...signed, format: CLAUDE_FORMAT }];
}

function callOf({ id = '', name = '', input = {} }: MessagesBlock): ToolCallPart {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

function resultOf(block: MessagesBlock): ChatMessage {
  const { tool_use_id = '', content = '', is_error, cache_control } = block;
  const said = Array.isArray(content) ? contentOf(content) : textOf(content);
  return {
    role: 'tool',
    tool_call_id: tool_use_id,
    content: said,
    ...(is_error === true && { is_error }),
    ...(cache_control && { cache_control }),
  };
}

/** One text without a mark on it stays a string, which every upstream takes. */
function contentOf(content: string | readonly MessagesBlock[]): string | ContentPart[] {
  if (typeof content === 'string') return content;
  const parts = content.flatMap(partsOf);
  const isPlain = parts.every((part) => part.type === 'text' && part.cache_control === undefined);
  if (!isPlain) return parts;
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

function partsOf(block: MessagesBlock): ContentPart[] {
  const mark = block.cache_control ? { cache_control: block.cache_control } : {};
  const text = (said: string): ContentPart[] => [{ type: 'text', text: said, ...mark }];
  const { type, source } = block;
  if (type === 'text') return text(block.text ?? '');
  if (type === 'image' && source) {
    return [{ type: 'image_url', image_url: { url: urlOf(source) }, ...mark }];
  }
  if (type === 'document' && source) return documentOf(block, source, mark);
  if (type === 'tool_reference')
    return text(`The tool ${block.tool_name ?? ''} can be called now.`);
  return block.text === undefined ? text(textOf(block.content ?? {})) : text(block.text);
}

function documentOf(
  { title }: MessagesBlock,
  source: NonNullable<MessagesBlock['source']>,
  mark: object,
): ContentPart[] {
  if (source.type === 'text') return [{ type: 'text', text: source.data ?? '', ...mark }];
  if (source.type === 'content') return [{ type: 'text', text: textOf(source.content), ...mark }];
  const filename = title ? { filename: title } : {};
  if (source.type === 'file') {
    return [{ type: 'file', file: { file_id: source.file_id ?? '', ...filename }, ...mark }];
  }
  return [{ type: 'file', file: { file_data: urlOf(source), ...filename }, ...mark }];
}

function urlOf({ url, media_type = '', data = '' }: NonNullable<MessagesBlock['source']>): string {
  return url ?? `data:${media_type};base64,${data}`;
}

/** All text in a value of any other form. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (!isRecord(value)) return '';
  return typeof value['text'] === 'string' ? value['text'] : JSON.stringify(value);
}
