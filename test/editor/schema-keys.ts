import { readFileSync } from 'node:fs';
import { isRecord } from '../../src/lib/objects.js';

/** The files that people write by hand, with an editor. */
export const WRITTEN = ['gateway', 'provider'] as const;

export type Schema = Readonly<Record<string, unknown>>;

/** A key of a block: its place in the schema, as a pointer, and as people say it. */
export interface Key {
  pointer: string;
  name: string;
  schema: Schema;
  required: boolean;
  /** True for an option of a stage, which nothing demands and which has no default. */
  is_option: boolean;
}

export function schemaFile(name: string): URL {
  return new URL(`../../schemas/${name}.schema.json`, import.meta.url);
}

export function readSchema(name: string): Schema {
  return JSON.parse(readFileSync(schemaFile(name), 'utf8')) as Schema;
}

/** Each part of a schema that is a schema itself, with its pointer. */
export function* partsOf(schema: Schema, pointer = '#'): Generator<[string, Schema]> {
  yield [pointer, schema];
  for (const word of ['properties', 'patternProperties', '$defs']) {
    const parts = schema[word];
    for (const [key, part] of Object.entries(isRecord(parts) ? parts : {})) {
      if (isRecord(part)) yield* partsOf(part, `${pointer}/${word}/${escaped(key)}`);
    }
  }
  for (const word of ['items', 'additionalProperties', 'propertyNames']) {
    const part = schema[word];
    if (isRecord(part)) yield* partsOf(part, `${pointer}/${word}`);
  }
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  for (const [i, part] of choices.entries())
    yield* partsOf(part as Schema, `${pointer}/anyOf/${i}`);
}

/** Every key that a file may have, at any depth. */
export function keysOf(schema: Schema): Key[] {
  return [...partsOf(schema)].flatMap(([pointer, part]) => {
    const { properties, then } = part;
    const required = part.required ?? (isRecord(then) ? then.required : undefined);
    return Object.entries(isRecord(properties) ? properties : {}).map(([key, own]) => ({
      pointer: `${pointer}/properties/${escaped(key)}`,
      name: `${pointer}/${key}`.replaceAll(/#\/|\$defs\/|(properties|anyOf\/\d+)\//gu, ''),
      schema: own as Schema,
      required: Array.isArray(required) && required.includes(key),
      is_option: pointer.includes('/anyOf/'),
    }));
  });
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
