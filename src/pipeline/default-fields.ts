import { isRecord } from '../lib/objects.js';
import { readShippedSchema } from '../lib/schemas.js';

/** A field as a schema describes it, with the definitions of that schema. */
interface SchemaField {
  schema: unknown;
  $defs: unknown;
}

const read = new Map<string, ReadonlyMap<string, SchemaField>>();

/**
 * The optional fields of a body, by the name of its schema, also those of a schema that it refines.
 * `NAME#BLOCK` stands for the fields of a block in it.
 */
export function propertiesOf(name: string): ReadonlyMap<string, SchemaField> {
  const known = read.get(name) ?? readProperties(name);
  read.set(name, known);
  return known;
}

function readProperties(name: string): ReadonlyMap<string, SchemaField> {
  const [file = '', block] = name.split('#');
  const whole = readShippedSchema(file);
  const { $defs, allOf = [] } = whole as { $defs?: unknown; allOf?: { $ref: string }[] };
  const top: unknown = whole.properties;
  const part = block === undefined ? whole : isRecord(top) ? top[block] : undefined;
  const { properties = {}, required = [] } = (isRecord(part) ? part : {}) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const refined = allOf.flatMap(({ $ref }) => [...propertiesOf($ref)]);
  const own = Object.entries(properties).filter(([field]) => !required.includes(field));
  return new Map([
    ...refined,
    ...own.map(([field, schema]) => [field, { schema, $defs }] as const),
  ]);
}

/** A body with the default values of the fields that the client has not sent. */
export function withDefaultFields(
  body: object,
  format: string,
  defaults: Readonly<Record<string, unknown>> | undefined,
  passthrough: ReadonlySet<string>,
): object {
  if (!defaults) return body;
  const fields = propertiesOf(format);
  const given = new Map(Object.entries(body));
  const added = Object.entries(defaults).filter(([name]) => {
    return given.get(name) == null && (fields.has(name) || passthrough.has(name));
  });
  return added.length === 0 ? body : { ...body, ...Object.fromEntries(added) };
}
