import { headerSafe } from '../../../http/ignored-header.js';
import { isRecord } from '../../../lib/objects.js';
import { readShippedSchema } from '../../../lib/schemas.js';

/** A part of the schema of a body: only the names of its fields are read. */
export interface Shape {
  $ref?: string;
  anyOf?: Shape[];
  properties?: Record<string, Shape>;
  /** The fields that only some kinds of an object have. */
  then?: { properties?: Record<string, Shape> };
  items?: Shape;
}

/** The fields that a shipped schema knows, at any depth. */
export class BodyShape {
  readonly #name: string;
  #root: (Shape & { $defs?: Record<string, Shape> }) | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** The whole schema, read at its first use. */
  get root(): Shape & { $defs?: Record<string, Shape> } {
    return (this.#root ??= readShippedSchema(this.#name) as Shape);
  }

  /** Resolves a reference; of alternatives, it takes the one that is a reference. */
  part(shape: Shape): Shape {
    const named = shape.$ref ?? shape.anyOf?.find(({ $ref }) => $ref)?.$ref;
    return named === undefined ? shape : (this.root.$defs?.[named.replace('#/$defs/', '')] ?? {});
  }

  /**
   * Names of nested fields that the schema does not know, each once. Top-level fields are not
   * named.
   */
  unknownFields(value: unknown, at = this.root, path = ''): string[] {
    const { items, properties: own, then } = this.part(at);
    if (items && Array.isArray(value)) {
      return [...new Set(value.flatMap((one) => this.unknownFields(one, items, `${path}[]`)))];
    }
    if (!isRecord(value) || !own) return [];
    const properties = { ...then?.properties, ...own };
    return Object.entries(value).flatMap(([name, inner_value]) => {
      const inner = path === '' ? name : `${path}.${headerSafe(name)}`;
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (field) return this.unknownFields(inner_value, field, inner);
      return path === '' || inner_value === null ? [] : [inner];
    });
  }
}
