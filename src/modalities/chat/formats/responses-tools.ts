import { hash } from 'node:crypto';
import { GatewayError } from '../../../core/errors.js';
import { noteUnknownFields } from '../../../http/ignored-header.js';
import { isRecord } from '../../../lib/objects.js';
import type { ToolEntry } from '../../../schema-types/chat-completion.js';
import type { ClientTool, ClientTools } from '../call.js';
import { CUSTOM_PARAMETERS } from './custom-input.js';
import type { ResponsesBody, ResponsesTool } from '../../../schema-types/responses.js';

/** Separates a namespace from a function's name, by characters that every upstream accepts. */
const BETWEEN = '__';
/** The length of the hash that tells two tools apart. */
const HASH_CHARACTERS = 8;
/** The most characters of a client's value that an error repeats. */
const SHOWN_CHARACTERS = 64;

const FUNCTION_KEYS = new Set(['type', 'name', 'description', 'parameters', 'strict']);
const CUSTOM_KEYS = new Set(['type', 'name', 'description', 'format']);
const NAMESPACE_KEYS = new Set(['type', 'name', 'description', 'tools']);

/** The key of a tool that an upstream runs itself. No function can have such a name. */
function hostedKey(type: string): string {
  return `<${type}>`;
}

/** The tools of a request: functions, those of namespaces, and custom tools as functions. */
export class ToolList {
  /** Names of unknown fields of tools. */
  readonly ignored = new Set<string>();
  readonly #names = new Map<string, ClientTool>();
  readonly #entries = new Map<string, ToolEntry>();
  readonly #custom_tools = new Map<string, object>();

  /** The names of tools in namespaces for upstreams, by their own. */
  readonly #flat = new Map<string, string>();
  /** The names for upstreams that are taken. */
  readonly #taken: Set<string>;

  /** `tools` are all that will be added: those without a namespace keep their names. */
  constructor(tools: readonly ResponsesTool[]) {
    this.#taken = new Set(
      tools.flatMap(({ type, name }) => (type === 'namespace' ? [] : (name ?? []))),
    );
    for (const tool of tools) this.#add(tool);
  }

  /** The name of a tool for upstreams, which know no namespaces. No two tools have the same. */
  flatName(name: string, namespace: string | null | undefined): string {
    if (!namespace) return name;
    const key = JSON.stringify([namespace, name]);
    const known = this.#flat.get(key);
    if (known !== undefined) return known;
    const plain = `${namespace}${BETWEEN}${name}`;
    const end = hash('sha256', key).slice(0, HASH_CHARACTERS);
    const flat = this.#taken.has(plain) ? `${plain}_${end}` : plain;
    this.#taken.add(flat);
    this.#flat.set(key, flat);
    return flat;
  }

  get names(): ClientTools {
    return this.#names;
  }

  /** The custom tools by name, in the form of chat completions. */
  get custom_tools(): ReadonlyMap<string, object> {
    return this.#custom_tools;
  }

  /** Adds a tool. A client may list a tool again later in its conversation, with changes. */
  #add(tool: ResponsesTool): void {
    const { type, name = '', description } = tool;
    if (type === 'namespace') {
      noteUnknownFields(tool, NAMESPACE_KEYS, 'tools[]', this.ignored);
      // The model gets the description of a namespace once, with its first tool.
      const about = description ? [`About ${name}: ${description}`] : [];
      tool.tools?.forEach((inner, at) => this.#addOne(inner, name, at === 0 ? about : []));
    } else this.#addOne(tool);
  }

  #addOne(tool: ResponsesTool, namespace?: string, about: readonly string[] = []): void {
    const { type } = tool;
    if (type === 'function' || type === 'custom') this.#addCallable(tool, namespace, about);
    else this.#entries.set(hostedKey(type), tool as ToolEntry);
  }

  #addCallable(tool: ResponsesTool, namespace: string | undefined, about: readonly string[]): void {
    const { type, name = '', description, strict } = tool;
    const is_custom = type === 'custom';
    noteUnknownFields(tool, is_custom ? CUSTOM_KEYS : FUNCTION_KEYS, 'tools[]', this.ignored);
    const flat = this.flatName(name, namespace);
    this.#names.set(flat, {
      name,
      ...(namespace && { namespace }),
      ...(is_custom && { is_custom }),
    });
    const grammar = is_custom ? grammarOf(tool.format) : '';
    const said = [description ?? '', ...about].filter(Boolean).join('\n\n');
    this.#custom_tools.delete(flat);
    if (is_custom) {
      const format = chatFormat(tool.format);
      const custom = { name: flat, ...(said && { description: said }), ...(format && { format }) };
      this.#custom_tools.set(flat, custom);
    }
    const text = [description ?? '', grammar, ...about].filter(Boolean).join('\n\n');
    this.#entries.set(flat, {
      type: 'function',
      function: {
        name: flat,
        ...(text !== '' && { description: text }),
        parameters: is_custom ? CUSTOM_PARAMETERS : (tool.parameters ?? { type: 'object' }),
        ...(typeof strict === 'boolean' && { strict }),
      },
    });
  }

  /**
   * The tools and the tool choice as fields of chat completions. Throws `GatewayError` for a choice
   * of a tool that cannot be called.
   */
  toFields({ tool_choice: choice, parallel_tool_calls }: ResponsesBody): Record<string, unknown> {
    const listed = isRecord(choice) && choice.type === 'allowed_tools' ? choice : undefined;
    const entries = listed ? this.#allowed(listed) : [...this.#entries.values()];
    const word = listed ? (listed.mode ?? 'auto') : choice;
    if (word === 'required' && entries.length === 0) {
      refuseChoice('tool_choice demands a tool, but none is given that can be called here');
    }
    const chosen = isRecord(word) ? this.#one(word) : word;
    if (entries.length === 0) return {};
    return {
      tools: entries,
      ...(chosen && { tool_choice: chosen }),
      ...(typeof parallel_tool_calls === 'boolean' && { parallel_tool_calls }),
    };
  }

  #allowed({ tools = [] }: ToolChoice): ToolEntry[] {
    return tools.flatMap((tool) => this.#entries.get(this.#keyOf(tool) ?? '') ?? []);
  }

  #one(choice: ToolChoice): object {
    const key = this.#keyOf(choice);
    const entry = key === undefined ? undefined : this.#entries.get(key);
    if (entry?.type === 'function') return { type: 'function', function: { name: key } };
    if (entry) return { type: entry.type };
    const wanted = JSON.stringify((choice.name ?? choice.type ?? '').slice(0, SHOWN_CHARACTERS));
    return refuseChoice(`tool_choice demands ${wanted}, which is no tool that can be called here`);
  }

  /** A choice may name a tool with or without its namespace. */
  #keyOf({ type = 'function', name, namespace }: ToolChoice): string | undefined {
    if (name === undefined || (type !== 'function' && type !== 'custom')) return hostedKey(type);
    for (const [flat, tool] of this.#names) {
      const isIn = namespace === undefined || tool.namespace === namespace;
      if (isIn && tool.name === name) return flat;
    }
    return undefined;
  }
}

interface ToolChoice {
  type?: string;
  name?: string;
  namespace?: string;
  mode?: string;
  tools?: ToolChoice[];
}

function refuseChoice(complaint: string): never {
  throw new GatewayError('invalid_request', `${complaint}.`, { param: 'tool_choice' });
}

/** The format of a custom tool as chat completions have it; undefined if it is of another kind. */
function chatFormat(format: unknown): object | undefined {
  if (!isRecord(format)) return undefined;
  const { type, syntax, definition } = format;
  if (type === 'text') return { type };
  const isGrammar = typeof syntax === 'string' && typeof definition === 'string';
  return type === 'grammar' && isGrammar ? { type, grammar: { syntax, definition } } : undefined;
}

/** A grammar as text for the description: most upstreams cannot enforce it. */
function grammarOf(format: unknown): string {
  if (!isRecord(format) || typeof format.definition !== 'string') return '';
  return `The input follows this grammar:\n${format.definition}`;
}
