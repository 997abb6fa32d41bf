import { isRecord, mapChanged, mapContent, recordsIn } from '../../lib/objects.js';
import { plainId } from '../../lib/tool-id.js';
import {
  addPropertyNames,
  objectSchema,
  renameKeys,
  renameProperties,
} from '../../lib/tool-schema.js';
import type { ChatMessage, ToolCallPart } from '../../schema-types/chat-completion.js';
import type { MessagesBlock, MessagesTool } from '../../schema-types/messages.js';
import type { ChatCall, MessagesOriginal, ToolRules } from './codec.js';
import { legalWord, LegalWords } from './legal-words.js';

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a tool that change with its schema. */
interface Described {
  /** The schema says less than the client's. */
  is_folded: boolean;
  parameters?: Record<string, unknown>;
  description?: string;
}

/** OpenAI refuses longer descriptions of functions, but not of their parameters. */
const DESCRIPTION_CHARACTERS = 1_024;
/** A longer schema is not repeated in a description. */
const SCHEMA_CHARACTERS = 16_384;

/**
 * The tools of one call in the words that its upstream takes: their names, the names of their
 * properties, their schemas, and the IDs of their calls, wherever the call has them.
 */
export class ToolTranslation {
  readonly call: ChatCall;
  /** Names of fields of tools that are left out. */
  readonly ignored = new Set<string>();
  readonly names: LegalWords;
  readonly #ids: LegalWords | undefined;
  readonly #rules: ToolRules;
  /** Set if no message has a word to replace. */
  readonly #keepsWords: boolean;
  /** The client's names of the functions that it offers. */
  readonly #offered = new Set<string>();
  /** By the client's name of the tool; only of tools that have properties to rename. */
  readonly #properties = new Map<string, LegalWords>();

  constructor(call: ChatCall, rules: ToolRules) {
    this.#rules = rules;
    this.names = new LegalWords(namesIn(call), rules.names);
    const ids = rules.ids ? idsIn(call) : [];
    this.#ids = rules.ids && new LegalWords(ids.map(plainId), rules.ids);
    this.#readFunctions(call.fields.tools);
    this.#keepsWords = !(
      this.names.has_changes ||
      this.#ids?.has_changes ||
      this.has_properties ||
      ids.some((id) => plainId(id) !== id)
    );
    const { custom_tools, original } = call;
    this.call = {
      ...call,
      fields: this.#fields(call.fields),
      messages: this.#keepsWords
        ? call.messages
        : mapChanged(call.messages, (message) => this.#message(message)),
      ...(custom_tools && { custom_tools: this.#customTools(custom_tools) }),
      ...(original && { original: this.#original(original) }),
    };
  }

  /** Whether a call of that tool, by the client's name, has keys of arguments to rename. */
  hasProperties(name: string): boolean {
    return this.#properties.has(name);
  }

  /** Whether any tool has keys of arguments to rename. */
  get has_properties(): boolean {
    return this.#properties.size > 0;
  }

  /** The arguments of a call in an answer, with the client's keys. */
  ownArguments(name: string, args: string): string {
    const properties = this.#properties.get(name);
    return properties ? renameKeys(args, (key) => properties.own(key)) : args;
  }

  #readFunctions(tools: unknown): void {
    const { properties: rule } = this.#rules;
    for (const { function: offered } of recordsIn(tools)) {
      if (!isRecord(offered) || typeof offered.name !== 'string') continue;
      this.#offered.add(offered.name);
      if (!rule) continue;
      const found = new Set<string>();
      addPropertyNames(offered.parameters, found);
      const words = new LegalWords(found, rule);
      if (words.has_changes) this.#properties.set(offered.name, words);
    }
  }

  #fields(fields: Fields): Fields {
    const { tools, tool_choice, response_format } = fields;
    const changed: Record<string, unknown> = { ...fields };
    if (Array.isArray(tools)) {
      changed.tools = mapChanged<unknown>(tools, (tool) => this.#tool(tool));
    }
    if (isRecord(tool_choice)) changed.tool_choice = this.#choice(tool_choice);
    if (isRecord(response_format) && isRecord(response_format.json_schema)) {
      // This name never comes back.
      const { json_schema } = response_format;
      const { name } = json_schema;
      if (typeof name === 'string') {
        const legal = legalWord(name, this.#rules.names);
        changed.response_format = {
          ...response_format,
          json_schema: { ...json_schema, name: legal },
        };
      }
    }
    return changed;
  }

  #tool(tool: unknown): unknown {
    if (!isRecord(tool) || !isRecord(tool.function)) return tool;
    const { function: offered } = tool;
    const { name } = offered;
    if (typeof name !== 'string') return tool;
    const { is_folded, ...described } = this.#described(
      name,
      offered.description,
      offered.parameters,
    );
    const changed: Record<string, unknown> = { ...offered, ...described };
    changed.name = this.names.legal(name);
    if (is_folded && changed.strict === true) {
      // A strict tool requires each property, and those of one branch alone are not.
      delete changed.strict;
      this.ignored.add('tools[].function.strict');
    }
    return { ...tool, function: changed };
  }

  /** The schema of a tool as the wire takes it, and its description with what that leaves out. */
  #described(name: string, description: unknown, parameters: unknown): Described {
    const isGiven = isRecord(parameters) && Object.keys(parameters).length > 0;
    if (!this.#rules.properties || !isGiven) return { is_folded: false };
    const { schema, is_folded } = objectSchema(parameters);
    const properties = this.#properties.get(name);
    const renamed = properties
      ? (renameProperties(schema, (one) => properties.legal(one)) as Record<string, unknown>)
      : schema;
    if (!is_folded) return { is_folded, parameters: renamed };
    const json = JSON.stringify(parameters);
    if (json.length > SCHEMA_CHARACTERS) return { is_folded, parameters: renamed };
    const note = `The arguments satisfy this JSON Schema: ${json}`;
    const text = joinedText(description, note);
    if (text.length <= DESCRIPTION_CHARACTERS) {
      return { is_folded, parameters: renamed, description: text };
    }
    const about = joinedText(renamed.description, note);
    return { is_folded, parameters: { ...renamed, description: about } };
  }

  /** A choice of one tool, or of those that are allowed. */
  #choice(choice: Record<string, unknown>): Record<string, unknown> {
    const changed = { ...choice };
    if (typeof choice.name === 'string') changed.name = this.names.legal(choice.name);
    for (const inner of ['function', 'custom', 'allowed_tools']) {
      const value = choice[inner];
      if (isRecord(value)) changed[inner] = this.#choice(value);
    }
    const { tools } = choice;
    if (Array.isArray(tools)) changed.tools = recordsIn(tools).map((one) => this.#choice(one));
    return changed;
  }

  #customTools(tools: NonNullable<ChatCall['custom_tools']>): ReadonlyMap<string, object> {
    return new Map(
      Array.from(tools, ([name, tool]) => {
        const legal = this.names.legal(name);
        return [legal, { ...tool, name: legal }];
      }),
    );
  }

  #id(id: string): string {
    return this.#ids ? this.#ids.legal(plainId(id)) : id;
  }

  #message(message: ChatMessage): ChatMessage {
    const { role, name, tool_calls, tool_call_id } = message;
    const namesTool = role === 'tool' && name !== undefined;
    if (!tool_calls && tool_call_id === undefined && !namesTool) return message;
    return {
      ...message,
      ...(namesTool && { name: this.names.legal(name) }),
      ...(tool_calls && { tool_calls: tool_calls.map((call) => this.#called(call)) }),
      ...(tool_call_id !== undefined && { tool_call_id: this.#id(tool_call_id) }),
    };
  }

  #called({ id, type, function: { name, arguments: args } }: ToolCallPart): ToolCallPart {
    const properties = this.#properties.get(name);
    const text = properties ? renameKeys(args, (key) => properties.legal(key)) : args;
    return { id: this.#id(id), type, function: { name: this.names.legal(name), arguments: text } };
  }

  #original(original: MessagesOriginal): MessagesOriginal {
    return {
      ...original,
      messages: this.#keepsWords
        ? original.messages
        : mapChanged(original.messages, (message) =>
            mapContent(message, (block: MessagesBlock) => this.#block(block)),
          ),
      tools: mapChanged(original.tools, (tool) => this.#originalTool(tool)),
    };
  }

  #originalTool(tool: MessagesTool): MessagesTool {
    const { type, name = '', description, input_schema, input_examples } = tool;
    // One that only stands for later tools was not read before.
    if ((type && type !== 'custom') || !this.#offered.has(name)) return tool;
    const { is_folded, parameters, ...described } = this.#described(
      name,
      description,
      input_schema,
    );
    const properties = this.#properties.get(name);
    const changed = { ...tool, ...described, name: this.names.legal(name) };
    if (parameters) changed.input_schema = parameters;
    if (is_folded) delete changed.strict;
    if (input_examples && properties) {
      changed.input_examples = input_examples.map((one) => legalInput(one, properties));
    }
    return changed;
  }

  #block(block: MessagesBlock): MessagesBlock {
    const { type, id = '', name = '', input, tool_use_id = '', tool_name = '', content } = block;
    switch (type) {
      case 'tool_use': {
        const properties = this.#properties.get(name);
        return {
          ...block,
          id: this.#id(id),
          name: this.names.legal(name),
          ...(input && properties && { input: legalInput(input, properties) }),
        };
      }
      case 'tool_result': {
        const blocks = Array.isArray(content) ? (content as MessagesBlock[]) : undefined;
        return {
          ...block,
          tool_use_id: this.#id(tool_use_id),
          ...(blocks && { content: blocks.map((inner) => this.#block(inner)) }),
        };
      }
      case 'tool_reference':
        return { ...block, tool_name: this.names.legal(tool_name) };
      default:
        return block;
    }
  }
}

function legalInput(input: object, properties: LegalWords): object {
  return Object.assign({}, withLegalKeys(input, properties));
}

/** A value of JSON with the keys that the wire takes. */
function withLegalKeys(value: unknown, properties: LegalWords): unknown {
  if (Array.isArray(value)) return value.map((one) => withLegalKeys(one, properties));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
    properties.legal(key),
    withLegalKeys(inner, properties),
  ]);
  return Object.fromEntries(entries);
}

function joinedText(text: unknown, more: string): string {
  return typeof text === 'string' && text !== '' ? `${text}\n\n${more}` : more;
}

/** The names of all tools that a call speaks of, those too that its upstream runs itself. */
function namesIn({ fields, messages, original }: ChatCall): Set<string> {
  const names = new Set<string>();
  const add = (name: unknown): void => void (typeof name === 'string' && names.add(name));
  for (const { name, function: offered } of recordsIn(fields.tools)) {
    add(isRecord(offered) ? offered.name : name);
  }
  for (const { role, name, tool_calls = [] } of messages) {
    if (role === 'tool') add(name);
    for (const { function: called } of tool_calls) add(called.name);
  }
  for (const { name } of original?.tools ?? []) add(name);
  eachBlock(original, ({ type, name, tool_name }) => {
    if (type === 'tool_use') add(name);
    else if (type === 'tool_reference') add(tool_name);
  });
  return names;
}

/** The IDs of all calls, perhaps with their signatures. */
function idsIn({ messages, original }: ChatCall): string[] {
  const ids: string[] = [];
  const add = (id: string | undefined): void => void (id !== undefined && ids.push(id));
  for (const { tool_call_id, tool_calls = [] } of messages) {
    add(tool_call_id);
    for (const { id } of tool_calls) add(id);
  }
  eachBlock(original, ({ type, id, tool_use_id }) => {
    if (type === 'tool_use') add(id);
    else if (type === 'tool_result') add(tool_use_id);
  });
  return ids;
}

/** Visits all blocks of a conversation, and those within results. */
function eachBlock(
  original: MessagesOriginal | undefined,
  visit: (block: MessagesBlock) => void,
): void {
  for (const { content } of original?.messages ?? []) {
    if (typeof content === 'string') continue;
    for (const block of content) {
      visit(block);
      const { type, content: inner } = block;
      if (type === 'tool_result' && Array.isArray(inner)) inner.forEach(visit);
    }
  }
}
