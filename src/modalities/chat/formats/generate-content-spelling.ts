import { isRecord } from '../../../lib/objects.js';
import { BodyShape, type Shape } from './body-shape.js';

export const CONTENT_SHAPE = new BodyShape('generate-content');

/** The field of a name, which clients may also write in snake_case. */
function fieldOf(properties: Record<string, Shape>, name: string): string | undefined {
  if (Object.hasOwn(properties, name)) return name;
  const camel = name.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  return Object.hasOwn(properties, camel) ? camel : undefined;
}

/**
 * Normalizes a body in place to the spelling that the schema knows. This API accepts field names in
 * camelCase and in snake_case, a single entry in place of a list, and null for an absent field.
 * Values that the schema leaves open, such as the arguments of a call, stay unchanged.
 */
export function normalizeSpelling(
  value: unknown,
  shape = CONTENT_SHAPE,
  at: Shape = shape.root,
): unknown {
  const { items, properties } = shape.part(at);
  if (items) {
    const list = isRecord(value) ? [value] : value;
    return Array.isArray(list) ? list.map((one) => normalizeSpelling(one, shape, items)) : list;
  }
  if (!isRecord(value) || !properties) return value;
  for (const [name, fieldValue] of Object.entries(value)) {
    const field = fieldOf(properties, name);
    if (field === undefined) continue;
    if (field !== name || fieldValue === null) delete value[name];
    if (fieldValue !== null) value[field] = normalizeSpelling(fieldValue, shape, properties[field]);
  }
  return value;
}
