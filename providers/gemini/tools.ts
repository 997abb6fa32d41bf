import { isRecord } from '../../src/lib/objects.js';
import { type GeminiObject, listIn, objectIn, textIn } from '../gemini-wire.js';
import { unsupported } from './parts.js';

type ChatFields = Readonly<Record<string, unknown>>;

/** Parts of a schema that have no effect without properties. */
const IDLE: readonly string[] = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  '$schema',
];

/** `tools` and `toolConfig` of a request; nothing where the client offers no tools. */
export function toolsOf(fields: ChatFields, ignored: Set<string>): GeminiObject {
  const offered = listIn(fields, 'tools');
  if (offered.length === 0) return {};
  const { mode, names, only } = choiceOf(fields.tool_choice);
  const functions = offered
    .filter((tool) => tool.type === 'function')
    .map((tool) => declarationOf(tool, ignored))
    .filter(({ name }) => only === undefined || only.includes(String(name)));
  const tools = offered.filter((tool) => tool.type !== 'function').map(ownTool);
  if (functions.length > 0) tools.unshift({ functionDeclarations: functions });
  if (fields.parallel_tool_calls === false) ignored.add('parallel_tool_calls');
  if (mode === undefined || functions.length === 0) return { tools };
  const functionCallingConfig = { mode, ...(names && { allowedFunctionNames: names }) };
  return { tools, toolConfig: { functionCallingConfig } };
}

function declarationOf(tool: GeminiObject, ignored: Set<string>): GeminiObject {
  if (tool.cache_control !== undefined) ignored.add('tools[].cache_control');
  const declared = objectIn(tool, 'function');
  if (declared.strict === true) ignored.add('tools[].function.strict');
  const description = textIn(declared, 'description');
  const parameters = objectIn(declared, 'parameters');
  return {
    name: declared.name,
    ...(description !== undefined && { description }),
    ...(takesParameters(parameters) && { parametersJsonSchema: parameters }),
  };
}

/** Removes an empty schema, which some models refuse. */
function takesParameters(schema: GeminiObject): boolean {
  const { type = 'object', properties, additionalProperties } = schema;
  if (isRecord(properties) && Object.keys(properties).length > 0) return true;
  if (type !== 'object' || isRecord(additionalProperties)) return true;
  return Object.keys(schema).some((name) => !IDLE.includes(name));
}

/** A tool of the upstream's own, such as `google_search`, with its settings under its name. */
function ownTool(tool: GeminiObject): GeminiObject {
  const type = String(tool.type);
  const name = type.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  return { [name]: objectIn(tool, type) };
}

interface ToolChoice {
  mode?: 'AUTO' | 'NONE' | 'ANY';
  names?: string[];
  /** The functions that may be offered at all. */
  only?: string[];
}

function choiceOf(choice: unknown): ToolChoice {
  if (choice === undefined || choice === null) return {};
  if (choice === 'auto') return { mode: 'AUTO' };
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  const named = isRecord(choice) ? textIn(objectIn(choice, 'function'), 'name') : undefined;
  if (named !== undefined) return { mode: 'ANY', names: [named] };
  if (isRecord(choice) && choice.type === 'allowed_tools') return allowedOf(choice);
  const words = 'auto, none, required, or an object that names functions';
  throw unsupported(`tool_choice must be ${words}.`, 'tool_choice');
}

/** Names are taken only where a call is required: for the rest, the others are not offered. */
function allowedOf(choice: GeminiObject): ToolChoice {
  const allowed = isRecord(choice.allowed_tools) ? choice.allowed_tools : choice;
  const names = listIn(allowed, 'tools').flatMap((tool) => {
    const name = textIn(objectIn(tool, 'function'), 'name') ?? textIn(tool, 'name');
    return name === undefined ? [] : [name];
  });
  return allowed.mode === 'required' ? { mode: 'ANY', names } : { mode: 'AUTO', only: names };
}
