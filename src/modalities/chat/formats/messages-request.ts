import { JsonTexts } from '../../../lib/json-text.js';
import type {
  ChatCompletionBody,
  ChatMessage,
  ToolEntry,
} from '../../../schema-types/chat-completion.js';
import type {
  MessagesBlock,
  MessagesBody,
  MessagesMessage,
  MessagesTool,
} from '../../../schema-types/messages.js';
import type { Model } from '../../../core/model.js';
import type { RequestHeaders } from '../../../pipeline/stage.js';
import { ClientNames } from '../client-names.js';
import {
  isServerToolBlock,
  otherBlockFields,
  otherToolFields,
} from '../../../core/block-fields.js';
import { holdsCacheMark, isCostly, spelling } from '../../../core/costly-fields.js';
import { memoizeByObject } from '../../../lib/objects.js';
import { textOfBlock } from '../../../lib/block-text.js';
import { headerSafe } from '../../../http/ignored-header.js';
import type { MessagesOriginal, OtherField } from '../codec.js';
import { BodyShape } from './body-shape.js';
import { contentOf, isAllowedIn, messagesOf, type Reader } from './messages-blocks.js';
import { hasReasoning, spokenTurns } from './empty-turns.js';
import { foreignFields } from './chat-completion.js';
import { isSealed } from './sealed-reasoning.js';
import { serverToolBlocks } from './server-tool-blocks.js';
import { refuseDeep } from '../../../pipeline/nesting.js';

/** The header in which clients ask for beta features. */
export const BETAS = 'anthropic-beta';

/**
 * A placeholder in the list of tools for those that the client loads later. It cannot be called.
 */
const PLACEHOLDER = 'DeferredToolPlaceholder';

/** Fields with the same name and meaning in chat completions. */
const SAME = ['model', 'max_tokens', 'stream', 'temperature', 'top_p'];

/** Fields that are translated below. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'system',
  'messages',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
]);

const FOREIGN = foreignFields([...SAME, ...TRANSLATED]);

/** Maps names of fields in chat completions to this API's, for ignored fields. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop_sequences'],
  ['user', 'metadata.user_id'],
  ['reasoning_effort', 'output_config.effort'],
  ['response_format', 'output_config.format'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
  ['messages[].cache_control', 'messages[].content[].cache_control'],
]);
/** The same if the effort was derived from a thinking budget. */
const WORDS_OF_BUDGET = new Map([...WORDS, ['reasoning_effort', 'thinking']]);

const SHAPE = new BodyShape('messages');

/** The largest thinking budget that each effort stands for, for a model that takes only efforts. */
const EFFORTS = [
  { effort: 'low', budget_tokens: 4_096 },
  { effort: 'medium', budget_tokens: 16_384 },
] as const;

/** A request as chat completions, and the names of the fields that are left out. */
export interface Translated {
  completion: ChatCompletionBody;
  ignored: ReadonlySet<string>;
  names: ClientNames;
  /**
   * Whether the original request has no more content than the completion, so that it may be sent.
   */
  is_whole: boolean;
  others: readonly OtherField[];
  /** The names of those within blocks and tools, and of whole blocks, and their bytes. */
  inner_others: readonly string[];
  inner_bytes: number;
}

/**
 * Translates a request of the Messages API to chat completions. Throws `GatewayError` for deep
 * nesting.
 */
export function toCompletion(body: MessagesBody, model: Model): Translated {
  // What goes to Claude unchanged is measured, and JSON.stringify overflows at such a depth.
  for (const [name, value] of Object.entries(body)) refuseDeep(name, value);
  const { system, messages, stop_sequences, tools, metadata, output_config } = body;
  const ignored = new Set<string>();
  const inner = new Set<string>();
  const names = new ClientNames(wordsFor(body));
  const reader: Reader = { model, ignored, names, inner, texts: new JsonTexts() };
  const same: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    if (value === null || TRANSLATED.has(name)) continue;
    if (FOREIGN.has(name)) ignored.add(name);
    else if (isRead(name, value) || model.passthrough.has(name)) same.push([name, value]);
  }
  const own: Record<string, unknown> = {
    stop: stop_sequences?.length ? stop_sequences : undefined,
    tools: tools?.length
      ? tools.filter(isReal).map((tool) => toolOf(tool, ignored, inner))
      : undefined,
    ...choiceOf(body.tool_choice),
    ...thinkingOf(body, model, ignored),
    // The older name of the same field.
    response_format: formatOf(output_config?.format ?? body.output_format),
    user: metadata?.user_id,
  };
  const given = Object.entries(own).filter(([, value]) => value !== undefined && value !== null);
  const turns: ChatMessage[] = [];
  for (const [at, message] of messages.entries()) {
    turns.push(...messagesOf(message, `messages[${at}]`, reader));
  }
  const spoken = spokenTurns(turns, names, 'messages');
  if (spoken.left_out.some(hasReasoning)) {
    // With what a tool found beside them, thoughts go to Claude.
    const left = inner.has('messages[].content[].server_tool_use') ? inner : ignored;
    left.add('messages[].content[].thinking');
  }
  const completion = {
    ...Object.fromEntries([...same, ...given]),
    model: body.model,
    messages: [
      ...(system?.length ? [names.place(systemOf(system), 'system')] : []),
      ...spoken.messages,
    ],
  };
  const { context_management: _, tools: _read, ...shaped } = body;
  const others = othersOf(body);
  const carried = new Set(others.map(({ path }) => path.map(headerSafe).join('.')));
  for (const name of SHAPE.unknownFields(shaped)) {
    if (!carried.has(name)) (isOfBlock(name) ? inner : ignored).add(name);
  }
  const is_whole = !reader.hides && (model.capabilities.has('tools') || !messages.some(calls));
  const inner_others = [...inner];
  const inner_bytes = inner_others.length === 0 ? 0 : innerBytes(body);
  return { completion, ignored, names, is_whole, others, inner_others, inner_bytes };
}

const IN_BLOCK = /^(?:system\[\]|messages\[\]\.content\[\](?:\.content\[\])*)\.([^.[\]]+)$/u;

/** Whether a field of that name stands in a block, and goes to an upstream with the same API. */
function isOfBlock(name: string): boolean {
  const [, field] = IN_BLOCK.exec(name) ?? [];
  return field !== undefined && field in otherBlockFields({ [field]: true });
}

/** The bytes of what the gateway does not read: whole blocks, and fields of blocks and tools. */
function innerBytes({ system, messages, tools }: MessagesBody): number {
  const bytesOfBlock = (block: MessagesBlock): number =>
    isServerToolBlock(block)
      ? Buffer.byteLength(JSON.stringify(block))
      : Buffer.byteLength(JSON.stringify(otherBlockFields(block))) + bytesOfBlocks(block.content);
  const bytesOfBlocks = (blocks: unknown): number =>
    Array.isArray(blocks)
      ? (blocks as MessagesBlock[]).reduce((sum, block) => sum + bytesOfBlock(block), 0)
      : 0;
  const bytesOfTools = (tools ?? []).reduce(
    (sum, tool) => sum + Buffer.byteLength(JSON.stringify(otherToolFields(tool))),
    0,
  );
  return [system, ...messages.map(({ content }) => content)].reduce(
    (sum: number, blocks) => sum + bytesOfBlocks(blocks),
    bytesOfTools,
  );
}

/** The names of fields that are read, in any spelling: an upstream may read such a one as well. */
const readSpellings = memoizeByObject(
  ({ root: { properties = {} } }: BodyShape) =>
    new Set(
      [...Object.keys(properties), ...SAME, ...FOREIGN, 'top_k', 'cache_control'].map(spelling),
    ),
);

/** Whether the gateway reads a field, or must, as it could raise the cost. */
function isRead(name: string, value: unknown): boolean {
  const isKnown = readSpellings(SHAPE).has(spelling(name)) || isCostly(name);
  return isKnown || holdsCacheMark(value);
}

/** Objects of which further fields go on as well. */
const OPEN_OBJECTS = ['output_config', 'metadata'] as const;

/**
 * The fields that the gateway does not read. Anthropic's own API gets those that cannot raise the
 * cost: it has new ones often, and refuses those that it does not know itself.
 */
function othersOf(body: MessagesBody): OtherField[] {
  const top = Object.entries(body).filter(([name, value]) => !isRead(name, value));
  const others: OtherField[] = top.map(([name, value]) => ({ path: [name], value }));
  const { properties = {} } = SHAPE.root;
  for (const name of OPEN_OBJECTS) {
    const known = properties[name]?.properties ?? {};
    for (const [inner, value] of Object.entries(body[name] ?? {})) {
      const isOther = !Object.hasOwn(known, inner) && !isCostly(inner) && !holdsCacheMark(value);
      if (isOther) others.push({ path: [name, inner], value });
    }
  }
  return others.filter(({ value }) => value !== null);
}

function wordsFor({ output_config }: MessagesBody): ReadonlyMap<string, string> {
  const words = new Map(output_config?.effort ? WORDS : WORDS_OF_BUDGET);
  if (!output_config?.format) words.set('response_format', 'output_format');
  return words;
}

function systemOf(system: NonNullable<MessagesBody['system']>): ChatMessage {
  return { role: 'system', content: contentOf(system) };
}

function calls({ content }: MessagesMessage): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type === 'tool_use');
}

function isReal({ name }: MessagesTool): boolean {
  return name !== PLACEHOLDER;
}

/**
 * Translates a tool. A tool that is to be loaded later is offered at once, as other APIs have no
 * such tools.
 */
function toolOf(tool: MessagesTool, ignored: Set<string>, inner: Set<string>): ToolEntry {
  const { type, name, description, input_schema, strict, input_examples, ...rest } = tool;
  const { cache_control, eager_input_streaming: _, defer_loading: _later, ...more } = rest;
  // A tool that the upstream runs stays unchanged, if the model lists its type.
  if (type && type !== 'custom') return { type, name, ...rest } as ToolEntry;
  const others = otherToolFields(tool);
  for (const extra of Object.keys(more)) {
    (extra in others ? inner : ignored).add(`tools[].${headerSafe(extra)}`);
  }
  const examples = input_examples?.length && !strict ? { examples: input_examples } : {};
  const parameters = { ...(input_schema ?? { type: 'object', properties: {} }), ...examples };
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

/** Thinking unchanged if the model accepts it, else as the nearest effort. */
function thinkingOf(
  { thinking, output_config }: MessagesBody,
  { passthrough }: Model,
  ignored: Set<string>,
): Record<string, unknown> {
  const effort = output_config?.effort ?? undefined;
  const given =
    effort === undefined ? {} : { reasoning_effort: effort === 'max' ? 'xhigh' : effort };
  if (!thinking) return given;
  if (passthrough.has('thinking') || !passthrough.has('reasoning_effort')) {
    return { ...given, thinking };
  }
  // An effort cannot hide thoughts: they are shown.
  if (thinking.display === 'omitted') ignored.add('thinking.display');
  if (thinking.type === 'between_tools') ignored.add('thinking.type');
  if (thinking.type === 'disabled') return { reasoning_effort: 'none' };
  const { budget_tokens } = thinking;
  if (effort !== undefined || budget_tokens === undefined) return given;
  const near = EFFORTS.find((one) => budget_tokens <= one.budget_tokens);
  return { reasoning_effort: near?.effort ?? 'high' };
}

function formatOf(format: MessagesBody['output_format']): unknown {
  if (!format?.schema) return undefined;
  const json_schema = { name: 'answer', schema: format.schema, strict: true };
  return { type: 'json_schema', json_schema };
}

/** The parts of the request that go unchanged to an upstream with the same API. */
export function originalOf(body: MessagesBody, headers: RequestHeaders): MessagesOriginal {
  const { system, messages, tools, output_config } = body;
  return {
    system:
      typeof system === 'string'
        ? [{ type: 'text', text: system }]
        : (system ?? []).filter((block) => isAllowedIn('system', block)),
    messages: withoutLoneThoughts(messages.map(withoutForeign)),
    tools: tools ?? [],
    effort: output_config?.effort ?? undefined,
    betas: betasIn(headers),
  };
}

const MAX_BETAS = 64;

function betasIn(headers: RequestHeaders): string[] {
  const names = (headers[BETAS] ?? '').split(',', MAX_BETAS).map((name) => name.trim());
  return names.filter((name) => /^[\w.-]{1,100}$/u.test(name));
}

/** Removes thoughts of other models: those without a signature, or with a sealed one. */
function withoutForeign({ role, content }: MessagesMessage): MessagesMessage {
  if (typeof content === 'string') return { role, content };
  const returned = role === 'assistant' ? serverToolBlocks(content) : [];
  const isKept = (block: MessagesBlock): boolean =>
    returned.includes(block) || (isAllowedIn(role, block) && !isForeign(block));
  return content.every(isKept) ? { role, content } : { role, content: content.filter(isKept) };
}

/** Empties turns of nothing but thoughts, which the API refuses, and which are not measured. */
function withoutLoneThoughts(messages: MessagesMessage[]): MessagesMessage[] {
  let hasSpoken = false;
  const kept = messages.toReversed().map((message) => {
    const { role, content } = message;
    const isThought =
      role === 'assistant' &&
      (typeof content === 'string' ? content === '' : content.every(isUnspoken));
    hasSpoken = role === 'assistant' && (hasSpoken || !isThought);
    return isThought && !hasSpoken ? { ...message, content: [] } : message;
  });
  return kept.toReversed();
}

/** Whether a block is a thought, or a text that has no character. */
function isUnspoken(block: MessagesBlock): boolean {
  const { type } = block;
  if (type === 'text') return textOfBlock(block) === '';
  return type === 'thinking' || type === 'redacted_thinking';
}

function isForeign({ type, signature = '', data = '' }: MessagesBlock): boolean {
  if (type === 'thinking') return signature === '' || isSealed(signature);
  return type === 'redacted_thinking' && isSealed(data);
}
