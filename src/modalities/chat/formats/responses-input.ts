import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { headerSafe, noteUnknownFields } from '../../../http/ignored-header.js';
import type {
  ChatMessage,
  ContentPart,
  ToolCallPart,
} from '../../../schema-types/chat-completion.js';
import { JsonTexts } from '../../../lib/json-text.js';
import type {
  ResponsesItem,
  ResponsesPart,
  ResponsesTool,
} from '../../../schema-types/responses.js';
import { RESULT_FOLLOWS, resultHeading } from '../../../lib/tool-media.js';
import { dropNulls, isRecord, recordsIn } from '../../../lib/objects.js';
import type { ClientNames } from '../client-names.js';
import type { ReasoningDetail } from '../codec.js';
import { UNREADABLE } from '../compaction.js';
import { hasReasoning, spokenTurns } from './empty-turns.js';
import { isSealed, unsealed } from './sealed-reasoning.js';
import type { ToolList } from './responses-tools.js';

/** Keys of items. Those that mean nothing to a model are left out and not named as ignored. */
const ITEM_KEYS: ReadonlySet<string> = new Set([
  'type',
  'id',
  'status',
  'role',
  'content',
  'call_id',
  'name',
  'namespace',
  'arguments',
  'input',
  'output',
  'summary',
  'encrypted_content',
  'tools',
  'execution',
]);
const PART_KEYS: ReadonlySet<string> = new Set([
  'type',
  'text',
  'refusal',
  'annotations',
  'logprobs',
  'image_url',
  'detail',
  'file_id',
  'file_data',
  'file_url',
  'filename',
  'input_audio',
]);
/** Types of parts that must have what is read of them. A part of another type is left out. */
const PART_TYPES: ReadonlySet<string> = new Set([
  'input_text',
  'output_text',
  'text',
  'summary_text',
  'reasoning_text',
  'refusal',
  'input_image',
  'input_audio',
  'input_file',
]);
/** Types of items that are read. An item of another type is left out. */
const ITEM_TYPES: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'compaction',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'item_reference',
]);
/** Items that contain tools. */
const BRINGS_TOOLS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output']);
/** The name of a search for tools as a call. */
const SEARCH = 'tool_search';

/** The tools that an item brings. */
export function toolsOfItem({ type, tools = [] }: ResponsesItem): readonly ResponsesTool[] {
  return BRINGS_TOOLS.has(type) ? tools : [];
}

/**
 * The IDs of searches for tools and of their results, by their items. A search that a server ran
 * has no ID, and its result is the next one without. Those that lack the other have no ID here.
 */
export function searchIds(items: readonly ResponsesItem[]): ReadonlyMap<ResponsesItem, string> {
  const ids = new Map<ResponsesItem, string>();
  const waiting: ResponsesItem[] = [];
  for (const item of items) {
    if (item.type === 'tool_search_call') waiting.push(item);
    if (item.type !== 'tool_search_output') continue;
    const own = item.call_id ?? null;
    const at = waiting.findIndex(({ call_id = null }) => call_id === own);
    const [call] = at === -1 ? [] : waiting.splice(at, 1);
    const id = own ?? `call_${SEARCH}_${ids.size}`;
    if (call) ids.set(call, id).set(item, id);
  }
  return ids;
}

/** Repairs items, parts and tools of clients that write null for what is absent. */
export function repairItems(body: unknown): boolean {
  if (!isRecord(body)) return false;
  let hasChanges = false;
  const repair = (value: unknown, kept?: string): void => {
    for (const one of recordsIn(value)) if (dropNulls(one, kept)) hasChanges = true;
  };
  repair(body.input, 'content');
  for (const item of recordsIn(body.input)) {
    for (const field of ['content', 'output', 'summary', 'tools']) repair(item[field]);
  }
  repair(body.tools);
  return hasChanges;
}

/** Collects items into messages: reasoning, text and tool calls that follow each other are one. */
export class Conversation {
  readonly ignored = new Set<string>();
  /** Whether it has a compaction of an upstream. */
  isCompacted = false;
  readonly #messages: ChatMessage[] = [];
  readonly #texts = new JsonTexts();
  #place = 'input';
  #open: ChatMessage | undefined;
  /** Images and files of tool results, which follow as a user message. */
  #shown: ContentPart[] = [];

  constructor(
    private readonly capabilities: Model['capabilities'],
    private readonly names: ClientNames,
    private readonly tools: ToolList,
    private readonly searches: ReadonlyMap<ResponsesItem, string>,
  ) {}

  instruct(content: string): void {
    this.#place = 'instructions';
    this.#add({ role: 'system', content });
  }

  read(item: ResponsesItem, place: string): void {
    this.#place = place;
    const { type = 'message', content } = item;
    if (!ITEM_TYPES.has(type)) {
      this.ignored.add(`input[].${headerSafe(type)}`);
      return;
    }
    noteUnknownFields(item, ITEM_KEYS, 'input[]', this.ignored);
    if (type === 'message')
      this.#addMessage(item.role ?? 'user', this.#content(content ?? '', 'content'));
    else if (type === 'reasoning') this.#reason(item);
    else if (type === 'compaction') this.#compacted(item);
    else if (type === 'function_call') this.#call(item, argumentsOf(item));
    else if (type === 'custom_tool_call') this.#call(item, JSON.stringify({ input: item.input }));
    else if (type === 'tool_search_call' || type === 'tool_search_output') this.#search(item);
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      this.#answer(item);
    } else if (type === 'item_reference') {
      const message =
        `${place} is an item_reference, but answers are not kept: send the item itself ` +
        '(the AI SDK does with store: false).';
      throw new GatewayError('invalid_request', message, { param: place });
    }
  }

  /** The messages. Throws `GatewayError` if none of them says anything. */
  finish(): ChatMessage[] {
    this.#show();
    const { messages, left_out } = spokenTurns(this.#messages, this.names, 'input');
    if (left_out.some(hasReasoning)) this.ignored.add('input[].reasoning');
    return messages;
  }

  /** A search for tools as a call, and what it found as the result, if both are there. */
  #search(item: ResponsesItem): void {
    const id = this.capabilities.has('tools') ? this.searches.get(item) : undefined;
    if (item.type === 'tool_search_call') {
      if (id === undefined) this.ignored.add('input[].tool_search_call');
      else this.#call({ call_id: id, name: SEARCH }, argumentsOf(item));
    } else if (id !== undefined) {
      const found = (item.tools ?? []).flatMap(({ name }) => name ?? []).join(', ');
      const output = found === '' ? 'No tool was found.' : `Tools that were found: ${found}.`;
      this.#answer({ call_id: id, output });
    }
  }

  #add(message: ChatMessage): void {
    if (message.role !== 'tool') this.#show();
    this.#open = undefined;
    this.#messages.push(this.names.place(message, this.#place));
  }

  #addMessage(role: NonNullable<ResponsesItem['role']>, content: string | ContentPart[]): void {
    if (role !== 'assistant') {
      this.#add({ role, content });
      return;
    }
    const open = this.#assistant();
    const said = content.length === 0 ? '' : content;
    if (open.content === null) open.content = said;
    else if (open.tool_calls) open.content = joinedContent(open.content ?? '', said);
    else {
      this.#open = undefined;
      this.#assistant().content = said;
    }
  }

  /**
   * The result of a tool. Most upstreams accept only text in it, so a user message has the rest.
   */
  #answer({ call_id: given, output = '' }: ResponsesItem): void {
    const call_id = given ?? '';
    const parts = asParts(this.#content(output, 'output')).map((part) => this.#seen(part));
    const texts = parts.filter(({ type }) => type === 'text');
    const media = parts.filter(({ type }) => type !== 'text');
    if (media.length > 0) {
      if (texts.length === 0) texts.push(textPart(RESULT_FOLLOWS));
      this.#shown.push(textPart(resultHeading(call_id)), ...media);
    }
    this.#add({ role: 'tool', tool_call_id: call_id, content: simplified(texts) });
  }

  /** Replaces a part of a tool result that the model cannot see by a text that says so. */
  #seen(part: ContentPart): ContentPart {
    const needed = {
      text: undefined,
      image_url: 'vision',
      input_audio: 'audio',
      file: 'file',
    } as const;
    const capability = needed[part.type];
    if (capability === undefined || this.capabilities.has(capability)) return part;
    this.ignored.add(`input[].output[].${part.type}`);
    return textPart('(Something that cannot be shown to this model.)');
  }

  #show(): void {
    if (this.#shown.length === 0) return;
    const message: ChatMessage = { role: 'user', content: this.#shown };
    this.#messages.push(this.names.place(message, this.#place));
    this.#shown = [];
  }

  #call({ call_id, name = '', namespace }: ResponsesItem, args: string): void {
    const open = this.#assistant();
    const called = { name: this.tools.flatName(name, namespace), arguments: args };
    const call: ToolCallPart = { id: call_id ?? '', type: 'function', function: called };
    (open.tool_calls ??= []).push(call);
  }

  #reason({ encrypted_content, content, summary }: ResponsesItem): void {
    const details = this.#unsealed(encrypted_content).filter(({ type }) => type !== 'compaction');
    if (encrypted_content && !isSealed(encrypted_content))
      this.ignored.add('input[].encrypted_content');
    const text = textOfContent(content) || textOfContent(summary);
    if (details.length === 0 && text === '') return;
    // Reasoning begins a new message of the assistant.
    if (this.#open?.tool_calls || this.#open?.content) this.#open = undefined;
    const open = this.#assistant();
    const isTold = details.some((detail) => detail.text || detail.summary);
    if (details.length > 0)
      open.reasoning_details = [...(open.reasoning_details ?? []), ...details];
    if (!isTold && text) open.reasoning_content = (open.reasoning_content ?? '') + text;
  }

  /** What stands for the conversation before it, as the one part of a message. */
  #compacted({ encrypted_content }: ResponsesItem): void {
    const details = this.#unsealed(encrypted_content);
    const own = details.find(({ type }) => type === 'compaction');
    if (own) {
      this.isCompacted = true;
      this.#add({ role: 'assistant', content: '', reasoning_details: [own] });
      return;
    }
    this.ignored.add('input[].compaction');
    this.#add({ role: 'user', content: UNREADABLE });
  }

  #unsealed(encrypted: ResponsesItem['encrypted_content']): ReasoningDetail[] {
    return encrypted ? unsealed(encrypted, this.#texts) : [];
  }

  #assistant(): ChatMessage {
    if (this.#open) return this.#open;
    const opened: ChatMessage = { role: 'assistant', content: null };
    this.#add(opened);
    this.#open = opened;
    return opened;
  }

  #content(content: string | readonly ResponsesPart[], field: string): string | ContentPart[] {
    if (typeof content === 'string') return content;
    const parts = content.flatMap((part, at) => {
      const { type, text } = part;
      const place = `${this.#place}.${field}[${at}]`;
      if (!PART_TYPES.has(type)) {
        // Of a part of another type, the text alone is read.
        if (typeof text === 'string') return [this.names.place(textPart(text), place)];
        this.ignored.add(`input[].${field}[].${headerSafe(type)}`);
        return [];
      }
      noteUnknownFields(part, PART_KEYS, `input[].${field}[]`, this.ignored);
      return [this.names.place(partOf(part, place), place)];
    });
    return parts.length === 0 ? parts : simplified(parts);
  }
}

function argumentsOf({ arguments: args = '' }: ResponsesItem): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

function joinedContent(first: string | ContentPart[], more: string | ContentPart[]) {
  if (typeof first === 'string' && typeof more === 'string') return `${first}\n\n${more}`;
  return [...asParts(first), ...asParts(more)];
}

function asParts(content: string | ContentPart[]): ContentPart[] {
  return typeof content === 'string' ? [textPart(content)] : content;
}

function textPart(text: string): ContentPart {
  return { type: 'text', text };
}

/** Joins parts that are all text into a string, which every upstream accepts. */
function simplified(parts: ContentPart[]): string | ContentPart[] {
  if (parts.some(({ type }) => type !== 'text')) return parts;
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function textOfContent(content: ResponsesItem['content']): string {
  if (!Array.isArray(content)) return content ?? '';
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n\n');
}

function partOf(part: ResponsesPart, place: string): ContentPart {
  const { type, text, refusal, image_url, detail, input_audio } = part;
  if (type === 'input_image' && image_url) {
    return { type: 'image_url', image_url: { url: image_url, ...(detail && { detail }) } };
  }
  if (type === 'input_audio' && input_audio) return { type: 'input_audio', input_audio };
  if (type === 'input_file') return { type: 'file', file: fileOf(part) };
  const words = text ?? refusal;
  if (words !== undefined) return textPart(words);
  const shown = JSON.stringify(type.slice(0, SHOWN_CHARACTERS));
  const message =
    type === 'input_image'
      ? `${place} must have an image_url: files are not kept here.`
      : `${place} is of type ${shown}, which cannot be read here.`;
  throw new GatewayError('invalid_request', message, { param: place });
}

/** The most characters of a client's value that an error repeats. */
const SHOWN_CHARACTERS = 64;

function fileOf({ file_data, file_url, file_id, filename }: ResponsesPart) {
  const data = file_data ?? file_url;
  return {
    ...(data && { file_data: data }),
    ...(file_id && { file_id }),
    ...(filename && { filename }),
  };
}
