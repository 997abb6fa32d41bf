import { isRecord } from '../../../lib/is-record.js';
import type { ToolEntry } from '../../../schema-types/chat-completion.js';
import type { ClientTool, ClientTools } from '../call.js';
import type { ResponsesBody, ResponsesTool } from '../../../schema-types/responses.js';

/** Separates a namespace from a function's name, in letters that every upstream takes. */
const BETWEEN = '__';

const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
};

export interface ReadTools {
  entries: ToolEntry[];
  names: ClientTools;
  /** Types of tools that only the maker of this API can run. */
  ignored: string[];
}

/** The name of a tool for an upstream, which knows no namespaces. */
export function flatName(name: string, namespace: string | null | undefined): string {
  return namespace ? `${namespace}${BETWEEN}${name}` : name;
}

/** Functions, those of namespaces and custom tools as functions; all other tools are named. */
export function readTools(tools: readonly ResponsesTool[], types: ReadonlySet<string>): ReadTools {
  const read = {
    entries: [] as ToolEntry[],
    names: new Map<string, ClientTool>(),
    ignored: [] as string[],
  };
  for (const tool of tools) addTool(tool, undefined, types, read);
  return read;
}

function addTool(
  tool: ResponsesTool,
  namespace: string | undefined,
  types: ReadonlySet<string>,
  read: Omit<ReadTools, 'names'> & { names: Map<string, ClientTool> },
): void {
  const { type, name = '', description } = tool;
  if (type === 'namespace') {
    for (const inner of tool.tools ?? []) addTool(inner, name, types, read);
    return;
  }
  if (type !== 'function' && type !== 'custom') {
    if (types.has(type)) read.entries.push(tool as ToolEntry);
    else read.ignored.push(`tools[].${type}`);
    return;
  }
  const is_custom = type === 'custom';
  const flat = flatName(name, namespace);
  read.names.set(flat, { name, ...(namespace && { namespace }), ...(is_custom && { is_custom }) });
  const about = [description ?? '', is_custom ? grammarOf(tool.format) : ''].filter(Boolean);
  read.entries.push({
    type: 'function',
    function: {
      name: flat,
      ...(about.length > 0 && { description: about.join('\n\n') }),
      parameters: is_custom ? CUSTOM_PARAMETERS : (tool.parameters ?? { type: 'object' }),
      ...(typeof tool.strict === 'boolean' && { strict: tool.strict }),
    },
  });
}

/** A grammar that only its own API can enforce is told to the model in words. */
function grammarOf(format: unknown): string {
  if (!isRecord(format) || typeof format['definition'] !== 'string') return '';
  return `The input follows this grammar:\n${format['definition']}`;
}

/** The choice of a tool in the words of chat completions. */
export function toolChoice(choice: ResponsesBody['tool_choice']): unknown {
  if (typeof choice !== 'object' || choice === null) return choice ?? undefined;
  const { type, name, namespace, mode } = choice;
  if (type === 'allowed_tools') return mode ?? 'auto';
  if (name === undefined) return undefined;
  return { type: 'function', function: { name: flatName(name, namespace) } };
}

/** The input of a custom tool, out of the arguments of the function that stands for it. */
export function customInput(args: string): string {
  try {
    const value: unknown = JSON.parse(args);
    if (isRecord(value) && typeof value['input'] === 'string') return value['input'];
  } catch {
    // A model that knows the tool may write its input without the object around it.
  }
  return args;
}
