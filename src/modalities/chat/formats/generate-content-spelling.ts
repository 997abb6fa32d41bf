import { isRecord } from '../../../lib/is-record.js';
import { BodyShape, type Shape } from './body-shape.js';

export const CONTENT_SHAPE = new BodyShape('generate-content');

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
export function spell(value: unknown, at: Shape = CONTENT_SHAPE.root): unknown {
  const { items, properties } = CONTENT_SHAPE.part(at);
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
