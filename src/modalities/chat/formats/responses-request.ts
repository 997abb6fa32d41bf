import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import type {
  ChatCompletionBody,
  ChatMessage,
  ContentPart,
  ToolCallPart,
} from '../../../schema-types/chat-completion.js';
import type {
  ResponsesBody,
  ResponsesItem,
  ResponsesPart,
} from '../../../schema-types/responses.js';
import type { ClientTools } from '../call.js';
import { unsealed } from './sealed-reasoning.js';
import { foreignFields } from './openai-request.js';
import { flatName, readTools, toolChoice } from './responses-tools.js';

/** Fields that are said in other words below, or that ask for what happens anyway. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'input',
  'instructions',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'reasoning',
  'text',
  'previous_response_id',
  'conversation',
  'background',
  'include',
  'client_metadata',
  'stream_options',
  'truncation',
]);

/** Fields with the same name and meaning in chat completions. */
const SAME = ['model', 'stream', 'temperature', 'top_p', 'parallel_tool_calls', 'user'];

const FOREIGN = foreignFields([...SAME, ...TRANSLATED]);

const CONTENT_FIELDS = ['previous_response_id', 'conversation'] as const;

export interface Translated {
  body: ChatCompletionBody;
  tools: ClientTools;
  ignored: readonly string[];
}

/**
 * A request of the Responses API in the words of chat completions. Throws `GatewayError` for one
 * that rests on what an earlier answer has left behind: nothing is kept here.
 */
export function toCompletion(body: ResponsesBody, model: Model): Translated {
  refuseState(body);
  const items = typeof body.input === 'string' ? [userItem(body.input)] : body.input;
  const listed = items.flatMap(({ type, tools }) =>
    type === 'additional_tools' ? (tools ?? []) : [],
  );
  const tools = readTools([...(body.tools ?? []), ...listed], model.tool_types ?? new Set());
  const conversation = new Conversation();
  if (body.instructions) conversation.add({ role: 'system', content: body.instructions });
  for (const item of items) conversation.read(item);
  const { store } = body as { store?: unknown };
  const foreign = Object.keys(body).filter((name) => FOREIGN.has(name));
  const left_out = store === true ? [...foreign, 'store'] : foreign;
  const ignored = [...tools.ignored, ...conversation.ignored, ...left_out];
  return {
    body: {
      ...othersOf(body),
      ...wordsOf(body),
      ...(tools.entries.length > 0 && { tools: tools.entries, ...choiceOf(body) }),
      model: body.model,
      messages: conversation.messages(),
    },
    tools: tools.names,
    ignored: [...new Set(ignored)],
  };
}

function refuseState(body: ResponsesBody): void {
  const param = body.background === true ? 'background' : CONTENT_FIELDS.find((name) => body[name]);
  if (param === undefined) return;
  const message = `${param} cannot be used, as answers are not kept: send the whole conversation.`;
  throw new GatewayError('invalid_request', message, { param });
}

function userItem(text: string): ResponsesItem {
  return { role: 'user', content: text };
}

function othersOf(body: ResponsesBody): Record<string, unknown> {
  const others = Object.entries(body).filter(
    ([name, value]) =>
      !TRANSLATED.has(name) && !FOREIGN.has(name) && name !== 'store' && value !== null,
  );
  return Object.fromEntries(others);
}

function wordsOf({ max_output_tokens, reasoning, text }: ResponsesBody): Record<string, unknown> {
  const { format, verbosity } = text ?? {};
  const said: Record<string, unknown> = {
    max_tokens: max_output_tokens,
    reasoning_effort: reasoning?.effort,
    verbosity,
    response_format: formatOf(format),
  };
  const given = Object.entries(said).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given);
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): unknown {
  if (!format || format.type === 'text') return undefined;
  const { type, name = 'answer', schema, strict } = format;
  if (type === 'json_object') return { type };
  return { type, json_schema: { name, schema, ...(typeof strict === 'boolean' && { strict }) } };
}

function choiceOf({ tool_choice }: ResponsesBody): Record<string, unknown> {
  const choice = toolChoice(tool_choice);
  return choice === undefined ? {} : { tool_choice: choice };
}

/** Gathers items: reasoning, text and tool calls that follow each other are one message. */
class Conversation {
  readonly ignored: string[] = [];
  readonly #messages: ChatMessage[] = [];
  #open: ChatMessage | undefined;

  add(message: ChatMessage): void {
    this.#open = undefined;
    this.#messages.push(message);
  }

  messages(): ChatMessage[] {
    return this.#messages;
  }

  read(item: ResponsesItem): void {
    const { type = 'message', role, content, call_id = '', output = '' } = item;
    if (type === 'message') this.#say(role ?? 'user', contentOf(content ?? ''));
    else if (type === 'reasoning') this.#reason(item);
    else if (type === 'function_call') this.#call(item, item.arguments ?? '');
    else if (type === 'custom_tool_call') this.#call(item, JSON.stringify({ input: item.input }));
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      this.add({ role: 'tool', tool_call_id: call_id, content: contentOf(output) });
    } else if (type === 'item_reference') {
      const message = 'An item_reference cannot be used here: answers are not kept.';
      throw new GatewayError('invalid_request', message, { param: 'input' });
    } else if (type !== 'additional_tools') this.ignored.push(`input[].${type}`);
  }

  #say(role: NonNullable<ResponsesItem['role']>, content: string | ContentPart[]): void {
    if (role !== 'assistant') {
      this.add({ role, content });
      return;
    }
    const open = this.#assistant();
    if (open.content === null && !open.tool_calls) open.content = content;
    else this.add({ role, content });
  }

  #call({ call_id = '', name = '', namespace }: ResponsesItem, args: string): void {
    const open = this.#assistant();
    const called = { name: flatName(name, namespace), arguments: args };
    const call: ToolCallPart = { id: call_id, type: 'function', function: called };
    open.tool_calls = [...(open.tool_calls ?? []), call];
  }

  #reason({ encrypted_content }: ResponsesItem): void {
    const details = encrypted_content ? unsealed(encrypted_content) : [];
    if (details.length === 0) return;
    // Reasoning begins a turn of the assistant.
    if (this.#open?.tool_calls || this.#open?.content) this.#open = undefined;
    const open = this.#assistant();
    open.reasoning_details = [...(open.reasoning_details ?? []), ...details];
  }

  #assistant(): ChatMessage {
    if (!this.#open) {
      this.#open = { role: 'assistant', content: null };
      this.#messages.push(this.#open);
    }
    return this.#open;
  }
}

function contentOf(content: string | readonly ResponsesPart[]): string | ContentPart[] {
  if (typeof content === 'string') return content;
  const parts = content.map(partOf);
  if (parts.some(({ type }) => type !== 'text')) return parts;
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function partOf(part: ResponsesPart): ContentPart {
  const { type, text, refusal, image_url, detail, input_audio } = part;
  if (type === 'input_image' && image_url) {
    return { type: 'image_url', image_url: { url: image_url, ...(detail && { detail }) } };
  }
  if (type === 'input_audio' && input_audio) return { type: 'input_audio', input_audio };
  if (type === 'input_file') return { type: 'file', file: fileOf(part) };
  if (text !== undefined || refusal !== undefined)
    return { type: 'text', text: text ?? refusal ?? '' };
  const message = `A content part of type ${JSON.stringify(type)} cannot be read here.`;
  throw new GatewayError('invalid_request', message, { param: 'input' });
}

function fileOf({ file_data, file_url, file_id, filename }: ResponsesPart) {
  const data = file_data ?? file_url;
  return {
    ...(data && { file_data: data }),
    ...(file_id && { file_id }),
    ...(filename && { filename }),
  };
}
