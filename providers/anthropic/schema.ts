import { isRecord } from '../../src/lib/objects.js';
import { resolvePointer } from '../../src/lib/tool-schema.js';

type Schema = Readonly<Record<string, unknown>>;

/** The keywords of JSON Schema that the API's structured output accepts. It refuses all others. */
const KEPT = new Set(['$ref', 'type', 'title', 'description', 'enum', 'const', 'required']);
const FORMATS = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Schemas with more properties that may be missing are too large for it. */
const MAX_OPTIONAL = 24;

/**
 * Reduces a schema to the part of JSON Schema that the API enforces, and describes the rest to the
 * model in a description. Undefined if the API cannot express it: objects with arbitrary names,
 * recursive schemas, too many optional properties.
 */
export function strictSchema(schema: unknown): Record<string, unknown> | undefined {
  const state: SchemaState = { optional: 0, isOpen: false };
  if (!isRecord(schema) || isRecursive(schema, schema, new Set(), new Set())) return undefined;
  const held = strictPart(schema, state);
  return state.isOpen || state.optional > MAX_OPTIONAL ? undefined : held;
}

interface SchemaState {
  optional: number;
  isOpen: boolean;
}

function strictPart(schema: Schema, state: SchemaState): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const described: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (KEPT.has(name)) result[name] = value;
    else if (!keepPart(result, name, value, state)) described[name] = value;
  }
  if (isObject(schema)) closeObject(result, schema, state);
  delete described.$schema;
  delete described.additionalProperties;
  if (Object.keys(described).length > 0) {
    const prefix = typeof result.description === 'string' ? `${result.description}\n` : '';
    result.description = `${prefix}${JSON.stringify(described)}`;
  }
  return result;
}

/** False where the API does not understand the keyword. */
function keepPart(
  result: Record<string, unknown>,
  name: string,
  value: unknown,
  state: SchemaState,
): boolean {
  switch (name) {
    case 'properties':
    case '$defs':
    case 'definitions':
      if (!isRecord(value)) return false;
      result[name] = Object.fromEntries(
        Object.entries(value).map(([key, part]) => [key, strictChild(part, state)]),
      );
      return true;
    case 'items':
      result[name] = strictChild(value, state);
      return true;
    case 'anyOf':
    case 'allOf':
    case 'oneOf':
      if (!Array.isArray(value)) return false;
      result[name === 'oneOf' ? 'anyOf' : name] = value.map((part) => strictChild(part, state));
      return true;
    case 'format':
      if (!FORMATS.has(String(value))) return false;
      result[name] = value;
      return true;
    case 'minItems':
      if (value !== 0 && value !== 1) return false;
      result[name] = value;
      return true;
    default:
      return false;
  }
}

function strictChild(part: unknown, state: SchemaState): unknown {
  return isRecord(part) ? strictPart(part, state) : part;
}

function isObject({ type, properties }: Schema): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || !!properties;
}

function closeObject(result: Record<string, unknown>, schema: Schema, state: SchemaState): void {
  const { properties, required, additionalProperties: more, patternProperties } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  const needed = new Set(Array.isArray(required) ? required : []);
  state.optional += names.filter((name) => !needed.has(name)).length;
  state.isOpen ||= more === true || isRecord(more) || patternProperties !== undefined;
  state.isOpen ||= names.length === 0 && more !== false;
  result.additionalProperties = false;
}

/** Parts within parts, or behind references; deeper schemas are taken for recursive ones. */
const MAX_DEPTH = 200;

/** Whether a schema refers to one that it stands in. Each part is looked at once. */
function isRecursive(
  part: unknown,
  root: Schema,
  around: Set<unknown>,
  seen: Set<unknown>,
): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false;
  if (around.has(part) || around.size > MAX_DEPTH) return true;
  around.add(part);
  const referred = isRecord(part) ? resolvePointer(root, part.$ref) : undefined;
  const inner: unknown[] = [referred, ...Object.values(part)];
  const isFound = inner.some((one) => isRecursive(one, root, around, seen));
  around.delete(part);
  seen.add(part);
  return isFound;
}
