import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type AnySchemaObject, type Options } from 'ajv/dist/2020.js';
import { packageRoot } from './package-root.js';

/** The JSON of `schemas/NAME.schema.json`. */
export function readShippedSchema(name: string): AnySchemaObject {
  const text = readFileSync(join(packageRoot, 'schemas', `${name}.schema.json`), 'utf8');
  return JSON.parse(text) as AnySchemaObject;
}

/**
 * Compiles schemas that ship with the program. A test holds them against the schema of schemas;
 * here that would make up a sixth of the time that the program takes to start.
 */
export function compilerOfShipped(options: Options): Ajv2020 {
  return new Ajv2020({ ...options, validateSchema: false });
}
