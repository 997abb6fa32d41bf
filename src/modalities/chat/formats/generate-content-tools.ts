import { GatewayError } from '../../../core/errors.js';
import { headerSafe } from '../../../http/ignored-header.js';
import { isRecord } from '../../../lib/objects.js';
import type { ToolEntry } from '../../../schema-types/chat-completion.js';
import type {
  GenerateContentBody,
  GeminiFunction,
  GeminiTool,
} from '../../../schema-types/generate-content.js';
import { refuseDeep } from '../../../pipeline/nesting.js';

const FUNCTIONS = 'functionDeclarations';

/** The tools of a request and its tool choice, with the tools of Google's own. */
export function toolsOf({ tools, toolConfig }: GenerateContentBody): {
  tools?: ToolEntry[];
  tool_choice?: string | object;
} {
  const offered = (tools ?? []).flatMap((tool, at) => entriesOf(tool, `tools[${at}]`));
  if (offered.length === 0) return {};
  const { mode = '', allowedFunctionNames: names = [] } = toolConfig?.functionCallingConfig ?? {};
  const isNarrowed = names.length > 0 && (mode === 'ANY' || mode === 'VALIDATED');
  const allowed = isNarrowed ? offered.filter((tool) => isNamed(tool, names)) : offered;
  const [only] = allowed;
  if (!only) {
    const param = 'toolConfig.functionCallingConfig.allowedFunctionNames';
    throw new GatewayError('invalid_request', `${param} names no function of tools.`, { param });
  }
  if (isNarrowed && mode === 'ANY' && allowed.length === 1) {
    return { tools: offered, tool_choice: { type: 'function', function: nameOfTool(only) } };
  }
  const words: Record<string, string> = { AUTO: 'auto', ANY: 'required', NONE: 'none' };
  const word = words[mode];
  return { tools: allowed, ...(word !== undefined && { tool_choice: word }) };
}

function entriesOf(tool: GeminiTool, at: string): ToolEntry[] {
  const functions = (tool.functionDeclarations ?? []).map((one, i) =>
    functionOf(one, `${at}.${FUNCTIONS}[${i}]`),
  );
  return [...functions, ...ownTools(tool).map(([name, value]) => ownTool(name, value))];
}

/** The tools of Google's own in an entry: each is a field, whose value says more about it. */
function ownTools(tool: GeminiTool): [string, unknown][] {
  return Object.entries(tool).filter(([name, value]) => name !== FUNCTIONS && value !== null);
}

/** `googleSearch` of this API is the type `google_search` of chat. */
function ownTool(name: string, value: unknown): ToolEntry {
  const type = typeOfOwn(name);
  return { type, ...(isRecord(value) && { [type]: value }) };
}

function typeOfOwn(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}

/** The names of ignored tools of Google's own, as the client wrote them, by those in the call. */
export function ownToolNames({ tools }: GenerateContentBody): [string, string][] {
  const names = (tools ?? []).flatMap((tool) => ownTools(tool).map(([name]) => name));
  return names.map((name) => [
    `tools[].${headerSafe(typeOfOwn(name))}`,
    `tools[].${headerSafe(name)}`,
  ]);
}

function functionOf(declared: GeminiFunction, at: string): ToolEntry {
  const { name, description, parametersJsonSchema, parameters } = declared;
  const schema = parametersJsonSchema ?? (parameters && jsonSchema(parameters, `${at}.parameters`));
  return {
    type: 'function',
    function: {
      name,
      ...(description && { description }),
      ...(schema && { parameters: schema }),
    },
  };
}

function nameOfTool({ function: declared }: ToolEntry): { name?: unknown } {
  return isRecord(declared) ? { name: declared.name } : {};
}

function isNamed(tool: ToolEntry, names: readonly string[]): boolean {
  return tool.type !== 'function' || names.some((name) => name === nameOfTool(tool).name);
}

/** Keywords of this API's schemas that JSON Schema does not have. */
const LEFT_OUT: ReadonlySet<string> = new Set(['nullable', 'propertyOrdering', 'example']);
/** Keywords whose number may be a string, as this API writes 64-bit integers. */
const COUNTS = /^(?:min|max)(?:Items|Length|Properties)$/u;

/** Translates a schema of this API, with types in capitals and `nullable`, to JSON Schema. */
export function jsonSchema(schema: object, param: string): object {
  refuseDeep(param, schema);
  return converted(schema) as object;
}

function converted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(converted);
  if (!isRecord(schema)) return schema;
  const made: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    const word = name.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
    if (!LEFT_OUT.has(word)) made[word] = valueOf(word, value);
  }
  if (schema.nullable !== true) return made;
  if (typeof made.type === 'string') made.type = [made.type, 'null'];
  if (Array.isArray(made.enum)) made.enum = [...(made.enum as unknown[]), null];
  return made;
}

function valueOf(word: string, value: unknown): unknown {
  if (word === 'type') return typeof value === 'string' ? value.toLowerCase() : value;
  if (word === 'properties' && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, converted(one)]));
  }
  if (word === 'items' || word === 'anyOf' || word === 'prefixItems') return converted(value);
  if (word === 'additionalProperties') return converted(value);
  return COUNTS.test(word) && typeof value === 'string' ? Number(value) : value;
}
