import { headerSafe } from '../../../http/request-body.js';
import { isRecord } from '../../../lib/is-record.js';
import { readShippedSchema } from '../../../lib/schemas.js';

/** A part of the schema of a request, as far as its fields are read from it. */
interface Shape {
  $ref?: string;
  properties?: Record<string, Shape>;
  items?: Shape;
  $defs?: Record<string, Shape>;
}

const ROOT = readShippedSchema('generate-content') as Shape;

function shapeOf({ $ref, ...shape }: Shape): Shape {
  return $ref === undefined ? shape : (ROOT.$defs?.[$ref.replace('#/$defs/', '')] ?? {});
}

/** The field that a name means, which may be written in snake_case as well. */
function fieldOf(properties: Record<string, Shape>, name: string): string | undefined {
  const camel = name.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  return [name, camel].find((one) => Object.hasOwn(properties, one));
}

/**
 * Gives a body the one spelling that the schema knows, in place: this API takes the names of its
 * fields in camelCase and in snake_case, a list of one without its brackets, and null for nothing.
 * What a schema leaves open, such as the arguments of a call, is the client's own and stays.
 */
export function spell(value: unknown, at: Shape = ROOT): unknown {
  const { items, properties } = shapeOf(at);
  if (items) {
    const list = isRecord(value) ? [value] : value;
    return Array.isArray(list) ? list.map((one) => spell(one, items)) : list;
  }
  if (!isRecord(value) || !properties) return value;
  for (const [name, said] of Object.entries(value)) {
    const field = fieldOf(properties, name);
    if (field === undefined) continue;
    if (field !== name || said === null) delete value[name];
    if (said !== null) value[field] = spell(said, properties[field]);
  }
  return value;
}

/** The fields within the body's own fields that the schema does not know, each named once. */
export function unknownFields(value: unknown, at: Shape = ROOT, path = ''): string[] {
  const { items, properties } = shapeOf(at);
  if (items && Array.isArray(value)) {
    return [...new Set(value.flatMap((one) => unknownFields(one, items, `${path}[]`)))];
  }
  if (!isRecord(value) || !properties) return [];
  return Object.entries(value).flatMap(([name, said]) => {
    const inner = path === '' ? name : `${path}.${headerSafe(name)}`;
    const field = fieldOf(properties, name);
    if (field !== undefined) return unknownFields(said, properties[field], inner);
    return path === '' || said === null ? [] : [inner];
  });
}
