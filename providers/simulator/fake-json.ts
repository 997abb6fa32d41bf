import { isRecord } from '../../src/lib/objects.js';
import type { BodyFields } from './wire.js';

/** Below the first depth only required values are made. Real schemas stay above the second. */
const OPTIONAL_DEPTH = 4;
const MAX_DEPTH = 24;
/** Values of one answer, so that no schema makes a very large one. */
const MAX_VALUES = 2_000;
const MAX_CHARACTERS = 1_000;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T12:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * A value that fits a JSON Schema, the same each time: properties that are required, or all of them
 * where the schema lists none as such; the first of alternatives. Patterns are not read.
 */
export function fakeJson(schema: unknown): unknown {
  const root = isRecord(schema) ? schema : {};
  return new Faker(root).make(root, 0);
}

class Faker {
  #values = 0;

  constructor(private readonly root: BodyFields) {}

  make(given: unknown, depth: number): unknown {
    const schema = this.#resolved(given, depth);
    this.#values += 1;
    if ('const' in schema) return schema.const;
    const { enum: listed } = schema;
    if (Array.isArray(listed)) return listed[0];
    const [type] = typesOf(schema);
    if (type === 'object') return this.#object(schema, depth);
    if (type === 'array') return this.#array(schema, depth);
    if (type === 'number' || type === 'integer') return numberIn(schema, type === 'integer');
    if (type === 'boolean') return true;
    return type === 'null' ? null : textFor(schema);
  }

  #object(schema: BodyFields, depth: number): BodyFields {
    const properties = recordIn(schema, 'properties');
    const required = listIn(schema.required).map(String);
    const names = Array.isArray(schema.required) ? required : Object.keys(properties);
    const made: BodyFields = {};
    for (const name of this.#mayGoOn(depth) ? names : required) {
      if (depth > MAX_DEPTH || this.#values > MAX_VALUES) break;
      // A name such as __proto__ is only a name.
      const value = this.make(properties[name], depth + 1);
      Object.defineProperty(made, name, { value, enumerable: true });
    }
    return made;
  }

  #array(schema: BodyFields, depth: number): unknown[] {
    const first = listIn(schema.prefixItems);
    const { minItems, maxItems, items } = schema;
    const min = typeof minItems === 'number' ? minItems : 0;
    const wanted = this.#mayGoOn(depth) ? Math.max(min, first.length, items ? 1 : 0) : min;
    const max = typeof maxItems === 'number' ? maxItems : Infinity;
    const made: unknown[] = [];
    const count = depth > MAX_DEPTH ? 0 : Math.min(wanted, max);
    while (made.length < count && this.#values < MAX_VALUES) {
      made.push(this.make(first[made.length] ?? items, depth + 1));
    }
    return made;
  }

  #mayGoOn(depth: number): boolean {
    return depth < OPTIONAL_DEPTH && this.#values < MAX_VALUES;
  }

  /** A schema without references, alternatives and parts. */
  #resolved(given: unknown, depth: number): BodyFields {
    this.#values += 1;
    let schema = isRecord(given) ? given : {};
    for (let steps = 0; steps < MAX_DEPTH && this.#values < MAX_VALUES; steps += 1) {
      const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
      const alternatives = listIn(anyOf ?? oneOf).filter(isRecord);
      if (typeof $ref === 'string') schema = joinedSchemas([this.#named($ref), rest]);
      else if (alternatives.length > 0) {
        schema = joinedSchemas([rest, pick(alternatives, !this.#mayGoOn(depth))]);
      } else if (Array.isArray(allOf)) {
        schema = joinedSchemas([
          rest,
          ...allOf.map((part: unknown) => this.#resolved(part, depth)),
        ]);
      } else return rest;
    }
    return {};
  }

  /** The part of the whole schema that `#/$defs/name` points to. */
  #named(reference: string): BodyFields {
    let found: unknown = this.root;
    for (const step of reference.split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }
    return isRecord(found) ? found : {};
  }
}

/** The first alternative, or the one that ends soonest. */
function pick(alternatives: readonly BodyFields[], ends: boolean): BodyFields {
  const isShort = (schema: BodyFields): boolean => typesOf(schema).includes('null');
  return (ends ? alternatives.find(isShort) : undefined) ?? alternatives[0] ?? {};
}

function joinedSchemas(schemas: readonly BodyFields[]): BodyFields {
  const required = schemas.flatMap((schema) => listIn(schema.required));
  const properties = Object.assign({}, ...schemas.map((one) => recordIn(one, 'properties')));
  const whole: BodyFields = Object.assign({}, ...schemas);
  if (required.length > 0) whole.required = [...new Set(required)];
  if (Object.keys(properties as BodyFields).length > 0) whole.properties = properties;
  return whole;
}

function typesOf(schema: BodyFields): unknown[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type;
  if ('properties' in schema) return ['object'];
  return 'items' in schema || 'prefixItems' in schema ? ['array'] : ['string'];
}

/** The lowest number that the schema allows; 1 if it sets no limit. */
function numberIn(schema: BodyFields, isWhole: boolean): number {
  const bound = (name: string): number | undefined => {
    const value = schema[name];
    return typeof value === 'number' ? value : undefined;
  };
  const step = bound('multipleOf') ?? (isWhole ? 1 : undefined);
  const above = bound('exclusiveMinimum');
  const max = bound('maximum') ?? bound('exclusiveMaximum') ?? Infinity;
  const min = above ?? bound('minimum') ?? Math.min(1, max - (isWhole ? 1 : 0.5));
  if (step !== undefined && step > 0) {
    const steps = above === undefined ? Math.ceil(min / step) : Math.floor(min / step) + 1;
    return steps * step;
  }
  if (above === undefined) return min;
  return max === Infinity ? above + 1 : (above + max) / 2;
}

function textFor({ format, minLength, maxLength }: BodyFields): string {
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  if (known !== undefined) return known;
  const min = typeof minLength === 'number' ? Math.min(minLength, MAX_CHARACTERS) : 0;
  const max = typeof maxLength === 'number' ? maxLength : MAX_CHARACTERS;
  return 'example'.padEnd(min, '.').slice(0, Math.max(0, max));
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordIn(fields: BodyFields, name: string): BodyFields {
  const value = fields[name];
  return isRecord(value) ? value : {};
}
