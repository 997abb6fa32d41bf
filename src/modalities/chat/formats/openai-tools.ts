import { fieldError } from '../../../core/errors.js';
import { noteUnknownFields } from '../../../http/ignored-header.js';
import { isRecord } from '../../../lib/objects.js';
import type { ChatCompletionBody, ToolEntry } from '../../../schema-types/chat-completion.js';
import type { ChatRequest, ClientTool } from '../call.js';
import { CUSTOM_PARAMETERS } from './custom-input.js';

const ENTRY_KEYS = new Set(['type', 'custom', 'cache_control']);
const CUSTOM_KEYS = new Set(['name', 'description', 'format']);

/** Maps names of ignored fields to the older ones that the client used. */
const OLDER: Readonly<Record<string, string>> = {
  tools: 'functions',
  tool_choice: 'function_call',
};

/** A body whose tools are all functions, and how its request becomes that of the client's body. */
interface FunctionsBody {
  body: ChatCompletionBody;
  complete: (request: ChatRequest) => ChatRequest;
}

/**
 * Translates `functions` and `function_call`, custom tools, and a choice among allowed tools to
 * functions, which every upstream accepts. Throws `GatewayError` if the tools or the choice are not
 * valid.
 */
export function asFunctions(body: ChatCompletionBody): FunctionsBody {
  const { tools, functions } = body;
  if (functions) return olderFunctions(body, functions);
  if (isRecord(body.function_call)) {
    throw fieldError('function_call', 'names a function, but there are no functions');
  }
  if (!tools) return { body, complete: (request) => request };
  const names = new Map<string, ClientTool>();
  const custom_tools = new Map<string, object>();
  const ignored = new Set<string>();
  refuseTwins(tools);
  const plain = tools.map((tool, at) => {
    if (tool.type !== 'custom') return tool;
    if (!tool.custom) throw fieldError(`tools[${at}].custom`, 'is missing');
    const { name, description, format } = tool.custom;
    const grammar = format && readFormat(format);
    if (format && !grammar) ignored.add('tools[].custom.format');
    names.set(name, { name, is_custom: true });
    custom_tools.set(name, {
      name,
      ...(description !== undefined && { description }),
      ...(grammar && { format: grammar }),
    });
    return asFunction(tool, tool.custom, ignored);
  });
  const translated = { ...body, tools: plain, ...choiceOf(body.tool_choice, plain) };
  if (names.size === 0) return { body: translated, complete: (request) => request };
  return {
    body: translated,
    complete: (request) => ({
      ...request,
      call: { ...request.call, custom_tools },
      tools: names,
      ignored: [...new Set([...request.ignored, ...ignored])],
    }),
  };
}

/**
 * Refuses a custom tool that shares its name with another tool: each tool of that name would be
 * sent with its text, which was measured once.
 */
function refuseTwins(tools: readonly ToolEntry[]): void {
  const nameFor = (tool: ToolEntry): unknown =>
    tool.type === 'custom' ? tool.custom?.name : nameOfTool(tool);
  const customs = new Set(tools.filter(({ type }) => type === 'custom').map(nameFor));
  const seen = new Set<unknown>();
  for (const [at, tool] of tools.entries()) {
    const name = nameFor(tool);
    if (!customs.has(name)) continue;
    if (seen.has(name)) throw fieldError(`tools[${at}]`, 'has the name of an earlier tool');
    seen.add(name);
  }
}

const SYNTAXES = new Set<unknown>(['lark', 'regex']);

/** The known fields of a format; undefined if it is of another kind. */
function readFormat(format: object): object | undefined {
  const { type, grammar } = format as Record<string, unknown>;
  if (type === 'text') return { type };
  if (type !== 'grammar' || !isRecord(grammar)) return undefined;
  const { syntax, definition } = grammar;
  const isKnown = SYNTAXES.has(syntax) && typeof definition === 'string';
  return isKnown ? { type, grammar: { syntax, definition } } : undefined;
}

function olderFunctions(
  body: ChatCompletionBody,
  functions: NonNullable<ChatCompletionBody['functions']>,
): FunctionsBody {
  const { functions: _, function_call: choice, tools, ...rest } = body;
  if (tools) throw fieldError('functions', 'means the same as tools: send one of them');
  const entries = functions.map((offered): ToolEntry => ({ type: 'function', function: offered }));
  const chosen = choice === undefined ? {} : { tool_choice: olderChoice(choice) };
  // `function_call` can hold only one call.
  const tool_fields = { tools: entries, ...chosen, parallel_tool_calls: false };
  return {
    body: { ...rest, ...(entries.length > 0 && tool_fields) },
    complete: (request) => {
      const ignored = request.ignored
        .filter((name) => name !== 'parallel_tool_calls')
        .map((name) => OLDER[name] ?? name);
      return { ...request, has_functions: true, ignored };
    },
  };
}

function olderChoice(choice: string | object): string | object {
  if (choice === 'none' || choice === 'auto') return choice;
  const name = isRecord(choice) ? choice.name : undefined;
  if (typeof name === 'string') return { type: 'function', function: { name } };
  throw fieldError('function_call', 'must be "none", "auto" or the name of a function');
}

/** A custom tool as a function with one string. A grammar becomes a part of the description. */
function asFunction(
  tool: ToolEntry,
  custom: NonNullable<ToolEntry['custom']>,
  ignored: Set<string>,
): ToolEntry {
  const { name, description, format } = custom;
  noteUnknownFields(tool, ENTRY_KEYS, 'tools[]', ignored);
  noteUnknownFields(custom, CUSTOM_KEYS, 'tools[].custom', ignored);
  const about = [description, grammarOf(format)].filter((text) => text !== undefined);
  return {
    type: 'function',
    function: {
      name,
      ...(about.length > 0 && { description: about.join('\n\n') }),
      parameters: CUSTOM_PARAMETERS,
    },
    ...(tool.cache_control && { cache_control: tool.cache_control }),
  };
}

function grammarOf(format: unknown): string | undefined {
  const grammar = isRecord(format) ? format.grammar : undefined;
  const definition = isRecord(grammar) ? grammar.definition : undefined;
  return typeof definition === 'string'
    ? `The input follows this grammar:\n${definition}`
    : undefined;
}

/** Translates a choice of one tool, or of allowed tools: only those are offered then. */
function choiceOf(
  choice: ChatCompletionBody['tool_choice'],
  tools: ToolEntry[],
): Pick<ChatCompletionBody, 'tools' | 'tool_choice'> {
  if (!isRecord(choice)) return {};
  const name = nameOfTool(choice);
  if (choice.type === 'custom') return { tool_choice: { type: 'function', function: { name } } };
  const allowed = choice.allowed_tools;
  if (choice.type !== 'allowed_tools' || !isRecord(allowed)) return {};
  const { mode, tools: listed } = allowed;
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(listed)) {
    throw fieldError('tool_choice.allowed_tools', 'must have a mode, auto or required, and tools');
  }
  const wanted = new Set(listed.map(nameOfTool));
  return { tools: tools.filter((tool) => wanted.has(nameOfTool(tool))), tool_choice: mode };
}

/** The name of the function or custom tool of an entry or a choice. */
function nameOfTool(tool: unknown): unknown {
  if (!isRecord(tool)) return undefined;
  const inner = tool.function ?? tool.custom;
  return isRecord(inner) ? inner.name : undefined;
}
