import { isRecord } from '../lib/objects.js';
import { segments } from './source.js';

/** A part of a JSON Schema. */
export type SubSchema = Readonly<Record<string, unknown>>;

/** A block of keys in a file. */
export type FileBlock = Readonly<Record<string, unknown>>;

/** A part of a schema with its `$ref` followed. Keys beside the `$ref` win. */
export function followed(part: unknown, schema: unknown): SubSchema {
  if (!isRecord(part)) return {};
  const reference = part.$ref;
  if (typeof reference !== 'string') return part;
  const target = segments(reference).reduce<unknown>(
    (at, key) => (isRecord(at) ? at[key] : undefined),
    schema,
  );
  return { ...followed(target, schema), ...part };
}

/** The schema of the value at a pointer. */
export function schemaAt(schema: unknown, pointer: string): SubSchema {
  return segments(pointer).reduce((at, key) => step(at, key, schema), followed(schema, schema));
}

function step(block: SubSchema, key: string, schema: unknown): SubSchema {
  const { properties, patternProperties, additionalProperties, items } = block;
  if (isRecord(properties) && Object.hasOwn(properties, key)) {
    return followed(properties[key], schema);
  }
  const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : [];
  const [, fitting] = patterns.find(([pattern]) => new RegExp(pattern).test(key)) ?? [];
  return followed(
    fitting ?? (/^\d+$/.test(key) ? items : undefined) ?? additionalProperties,
    schema,
  );
}

/** Keys of deeper blocks are not suggested. */
const MAX_DEPTH = 6;

/** The places of a key, such as `models.NAME.limits.context`; places higher up come first. */
export function homesOf(key: string, schema: unknown): string[] {
  const found: string[] = [];
  let level: [path: string, part: SubSchema][] = [['', followed(schema, schema)]];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    for (const [path, { properties }] of level) {
      if (path !== '' && isRecord(properties) && Object.hasOwn(properties, key)) {
        found.push(`${path}.${key}`);
      }
    }
    level = level.flatMap(([path, part]) => inside(path, part, schema));
  }
  return found;
}

function inside(path: string, part: SubSchema, schema: unknown): [string, SubSchema][] {
  const { properties, additionalProperties, items } = part;
  const under = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const own = isRecord(properties) ? Object.entries(properties) : [];
  return [
    ...own.map(([name, inner]): [string, SubSchema] => [under(name), followed(inner, schema)]),
    ...(isRecord(additionalProperties)
      ? [[under('NAME'), followed(additionalProperties, schema)] as [string, SubSchema]]
      : []),
    ...(isRecord(items) ? [[`${path}[]`, followed(items, schema)] as [string, SubSchema]] : []),
  ];
}

/** A text that needs no quotes in YAML, between braces too. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off)$)[A-Za-z][\w./-]*(?::[\w./-]+)*$/i;

/** A value as it may be written on one line of YAML. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (isRecord(value)) {
    const entries = Object.entries(value).map(([key, inner]) => `${flow(key)}: ${flow(inner)}`);
    return `{ ${entries.join(', ')} }`;
  }
  if (
    typeof value !== 'string' ||
    PLAIN.test(value) ||
    /^\d+(ms|s|m|h|d|kb|mb|gb|p)$/.test(value)
  ) {
    return String(value);
  }
  return `'${value.replaceAll("'", "''")}'`;
}

/** Whether a value may be of a type. */
export function wants(part: SubSchema, type: string): boolean {
  return [part.type].flat().includes(type);
}

/** The keys that a block must have. */
export function requiredOf({ required }: SubSchema): string[] {
  return [required].flat().filter((key) => typeof key === 'string');
}

/** An example of a value: its own, or one made of those of the keys that it must have. */
export function exampleOf(part: SubSchema, schema: unknown): unknown {
  const { examples, defaultSnippets, properties } = part;
  const [snippet]: unknown[] = Array.isArray(defaultSnippets) ? defaultSnippets : [];
  if (isRecord(snippet)) return snippet.body;
  if (Array.isArray(examples)) return examples[0];
  const keys = requiredOf(part);
  if (keys.length === 0 || !isRecord(properties)) return undefined;
  const values = keys.map((key) => exampleOf(followed(properties[key], schema), schema));
  if (values.includes(undefined)) return undefined;
  return Object.fromEntries(keys.map((key, i) => [key, values[i]]));
}
