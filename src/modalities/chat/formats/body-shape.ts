import { headerSafe } from '../../../http/ignored-header.js';
import { memoizeByObject } from '../../../lib/objects.js';
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

/** The place of a value: written as a text only if it is named. */
interface Path {
  before: Path | undefined;
  step: string;
}

function written({ before, step }: Path): string {
  if (!before) return step;
  return step === '[]' ? `${written(before)}[]` : `${written(before)}.${step}`;
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
    this.#noteUnknown(value, this.root, undefined, found);
    return [...found];
  }

  #noteUnknown(value: unknown, at: Shape, path: Path | undefined, found: Set<string>): void {
    if (typeof value !== 'object' || value === null) return;
    const { items, properties } = this.#fieldsOf(at);
    if (Array.isArray(value)) {
      if (!items) return;
      const inside = { before: path, step: '[]' };
      for (const one of value) this.#noteUnknown(one, items, inside, found);
    } else if (properties) {
      for (const name in value) {
        const inner: unknown = Reflect.get(value, name);
        const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (!field) {
          if (path && inner !== null) found.add(`${written(path)}.${headerSafe(name)}`);
        } else if (typeof inner === 'object') {
          this.#noteUnknown(inner, field, { before: path, step: name }, found);
        }
      }
    }
  }
}
