import { parseCounted } from './json-text.js';
import { isRecord } from './objects.js';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords of alternatives, which some upstreams refuse at the top of a tool's schema. */
const COMBINERS = ['anyOf', 'oneOf', 'allOf'] as const;
/** Further keywords that they refuse there. */
const REFUSED = [...COMBINERS, '$ref', 'not', 'enum', 'const'];
/** The most branches that are united, and the most properties of all of them. */
const MAX_BRANCHES = 200;
const MAX_PROPERTIES = 2_000;
const MAX_DEPTH = 20;

/** The schema of one object, and whether it says less than the one that it stands for. */
export interface ObjectSchema {
  schema: Record<string, unknown>;
  is_folded: boolean;
}

/**
 * The schema of a tool's arguments as that of one object, without alternatives or a reference at
 * its top: the properties of all branches are united, and those that every branch requires are
 * required.
 */
export function objectSchema(parameters: unknown): ObjectSchema {
  const given: Schema = isRecord(parameters) ? parameters : {};
  const kept: Record<string, unknown> = { ...given, type: 'object' };
  const is_folded = needsFolding(given);
  if (!is_folded) return { schema: kept, is_folded };
  for (const name of REFUSED) delete kept[name];
  const { properties, required } = new Branches(given).unite(given, 0);
  kept.properties = Object.fromEntries(properties);
  if (required.size > 0) kept.required = [...required];
  else delete kept.required;
  return { schema: kept, is_folded };
}

/** Whether a schema is more than that of one object, so that its object says less. */
export function needsFolding(schema: Schema): boolean {
  return !allowsObject(schema) || REFUSED.some((name) => Object.hasOwn(schema, name));
}

function allowsObject({ type }: Schema): boolean {
  return (
    type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
  );
}

interface United {
  properties: Map<string, unknown>;
  required: ReadonlySet<string>;
}

const NOTHING: United = { properties: new Map(), required: new Set() };

/** Unites the branches of one schema, of which it visits a bounded number. */
class Branches {
  #branches = 0;
  #properties = 0;

  constructor(private readonly root: Schema) {}

  unite(schema: Schema, depth: number): United {
    this.#branches += 1;
    if (depth > MAX_DEPTH || this.#branches > MAX_BRANCHES || !allowsObject(schema)) return NOTHING;
    const parts = [this.#own(schema)];
    const referred = resolvePointer(this.root, schema.$ref);
    if (isRecord(referred)) parts.push(this.unite(referred, depth + 1));
    for (const combiner of COMBINERS) {
      const branches = schema[combiner];
      if (!Array.isArray(branches)) continue;
      const read = branches
        .filter(isRecord)
        .filter(allowsObject)
        .map((branch) => this.unite(branch, depth + 1));
      if (combiner === 'allOf') parts.push(...read);
      else parts.push(anyOf(read));
    }
    return allOf(parts);
  }

  #own({ properties, required }: Schema): United {
    const own = new Map<string, unknown>();
    for (const [name, part] of Object.entries(isRecord(properties) ? properties : {})) {
      if (this.#properties === MAX_PROPERTIES) break;
      this.#properties += 1;
      own.set(name, part);
    }
    const names = (Array.isArray(required) ? required : []).filter(
      (one) => typeof one === 'string',
    );
    return { properties: own, required: new Set(names) };
  }
}

/** What holds if all parts do. A property that several describe is described by the first. */
function allOf(parts: readonly United[]): United {
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  for (const part of parts) {
    for (const [name, schema] of part.properties) {
      if (!properties.has(name)) properties.set(name, schema);
    }
    for (const name of part.required) required.add(name);
  }
  return { properties, required };
}

/** What holds if one of the parts does. */
function anyOf(parts: readonly United[]): United {
  const [first, ...others] = parts;
  if (!first) return NOTHING;
  const schemas = new Map<string, Map<string, unknown>>();
  for (const { properties } of parts) {
    for (const [name, schema] of properties) {
      const known = schemas.get(name) ?? new Map<string, unknown>();
      schemas.set(name, known.set(JSON.stringify(schema), schema));
    }
  }
  const properties = Array.from(schemas, ([name, known]): [string, unknown] => {
    const alternatives = [...known.values()];
    return [name, alternatives.length > 1 ? { anyOf: alternatives } : alternatives[0]];
  });
  const required = [...first.required].filter((name) =>
    others.every((other) => other.required.has(name)),
  );
  return { properties: new Map(properties), required: new Set(required) };
}

/** What a reference within a schema leads to; undefined if it leads elsewhere. */
export function resolvePointer(root: Schema, pointer: unknown): unknown {
  if (typeof pointer !== 'string' || !pointer.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const name of pointer.slice(1).split('/').slice(1)) {
    const key = unescaped(name);
    found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Keywords whose values are schemas by name, by the names of properties first. */
const SCHEMAS_BY_PROPERTY = new Set(['properties', 'dependentSchemas']);
const SCHEMAS_BY_NAME = new Set(['$defs', 'definitions', 'patternProperties']);
/** Keywords whose values are no schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'example']);

/** Adds the names of all properties in a schema to `names`. */
export function addPropertyNames(schema: unknown, names: Set<string>): void {
  if (Array.isArray(schema)) {
    for (const part of schema) addPropertyNames(part, names);
    return;
  }
  if (!isRecord(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUES.has(keyword)) continue;
    const isByProperty = SCHEMAS_BY_PROPERTY.has(keyword);
    if (isRecord(value) && (isByProperty || SCHEMAS_BY_NAME.has(keyword))) {
      if (isByProperty) for (const name of Object.keys(value)) names.add(name);
      for (const part of Object.values(value)) addPropertyNames(part, names);
    } else addPropertyNames(value, names);
  }
}

/** The schema with other names for its properties. */
export function renameProperties(schema: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((part: unknown) => renameProperties(part, rename));
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (VALUES.has(keyword)) return [keyword, value];
    if (keyword === 'required' && Array.isArray(value)) {
      return [
        keyword,
        value.map((name: unknown) => (typeof name === 'string' ? rename(name) : name)),
      ];
    }
    if (keyword === '$ref' && typeof value === 'string')
      return [keyword, renamedRef(value, rename)];
    const isByProperty = SCHEMAS_BY_PROPERTY.has(keyword);
    if (!isRecord(value) || !(isByProperty || SCHEMAS_BY_NAME.has(keyword))) {
      return [keyword, renameProperties(value, rename)];
    }
    const parts = Object.entries(value).map(([name, part]): [string, unknown] => [
      isByProperty ? rename(name) : name,
      renameProperties(part, rename),
    ]);
    return [keyword, Object.fromEntries(parts)];
  });
  return Object.fromEntries(entries);
}

/** A reference whose way leads through properties. */
function renamedRef(pointer: string, rename: (name: string) => string): string {
  const steps = pointer.split('/');
  const renamed = steps.map((step, at) => {
    const isProperty = SCHEMAS_BY_PROPERTY.has(steps[at - 1] ?? '');
    return isProperty ? rename(unescaped(step)) : step;
  });
  return renamed.join('/');
}

/** A string of a JSON text, and the colon that makes it a key. */
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"(\s{0,20}:)?)?/gu;
/** Longer texts stay as they are. */
const MAX_CHARACTERS = 1_048_576;

/** The JSON text with other keys, and nothing else changed: numbers keep all of their digits. */
export function renameKeys(json: string, rename: (name: string) => string): string {
  if (json.length > MAX_CHARACTERS) return json;
  return json.replaceAll(STRING, (written: string, colon: string | undefined) => {
    if (colon === undefined) return written;
    const key = written.slice(0, -colon.length);
    const name = key.includes('\\') ? decodedKey(key) : key.slice(1, -1);
    const renamed = rename(name);
    return renamed === name ? written : JSON.stringify(renamed) + colon;
  });
}

function decodedKey(written: string): string {
  const key = parseCounted(written);
  return typeof key === 'string' ? key : written;
}
