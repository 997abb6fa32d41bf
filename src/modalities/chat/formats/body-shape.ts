import { headerSafe } from '../../../http/ignored-header.js';
import { isRecord, memoizeByObject } from '../../../lib/objects.js';
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

  /** The entries or the fields of a part, with those that only some kinds of it have. */
  readonly #fieldsOf = memoizeByObject((shape: Shape): Pick<Shape, 'items' | 'properties'> => {
    const { items, properties, then } = this.part(shape);
    return {
      ...(items && { items }),
      ...(properties && { properties: { ...then?.properties, ...properties } }),
    };
  });

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
  unknownFields(value: unknown): string[] {
    const found = new Set<string>();
    this.#noteUnknown(value, this.root, '', found);
    return [...found];
  }

  #noteUnknown(value: unknown, at: Shape, path: string, found: Set<string>): void {
    const { items, properties } = this.#fieldsOf(at);
    if (items && Array.isArray(value)) {
      for (const one of value) this.#noteUnknown(one, items, `${path}[]`, found);
    } else if (isRecord(value) && properties) {
      for (const [name, inner] of Object.entries(value)) {
        const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (field) this.#noteUnknown(inner, field, path === '' ? name : `${path}.${name}`, found);
        else if (path !== '' && inner !== null) found.add(`${path}.${headerSafe(name)}`);
      }
    }
  }
}
