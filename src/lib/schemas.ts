import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Ajv2020, AnySchemaObject, Options, ValidateFunction } from 'ajv/dist/2020.js';
import { isRecord } from './is-record.js';
import { packageRoot } from './package-root.js';

/** The text of `schemas/NAME.schema.json`. */
export function shippedSchemaText(name: string): string {
  return readFileSync(join(packageRoot, 'schemas', `${name}.schema.json`), 'utf8');
}

/** The JSON of `schemas/NAME.schema.json`. */
export function readShippedSchema(name: string): AnySchemaObject {
  return JSON.parse(shippedSchemaText(name)) as AnySchemaObject;
}

const require = createRequire(import.meta.url);

/** A compiler of schemas. It is loaded when it is first needed: a valid file may need none. */
export function compilerOf(options: Options): Ajv2020 {
  const ajv = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  return new ajv.Ajv2020(options);
}

/**
 * Compiles schemas that ship with the program. A test holds them against the schema of schemas;
 * here that would make up a sixth of the time that the program takes to start.
 */
export function compilerOfShipped(options: Options): Ajv2020 {
  return compilerOf({ ...options, validateSchema: false });
}

/**
 * How the validators of the operator's files are compiled: for all faults, with their data. The
 * keywords say something to people: in faults, and in editors.
 */
export const BUILT_OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  validateSchema: false,
  keywords: ['patternErrorMessage', 'enumDescriptions'],
};

/** The schema of an operator's file, from its text, as the program holds files to it. */
export function fileSchema(text: string): AnySchemaObject {
  return withoutEditorParts(JSON.parse(text)) as AnySchemaObject;
}

/** The validator of a shipped schema: that of the build, or a new one where that is not current. */
export function validatorOfShipped(name: string): ValidateFunction {
  const text = shippedSchemaText(name);
  const built = builtValidator(name);
  if (built?.mark === schemaMark(text)) return built;
  return compilerOf(BUILT_OPTIONS).compile(fileSchema(text));
}

function builtValidator(name: string): (ValidateFunction & { mark?: string }) | undefined {
  try {
    // From the build, whichever of its files imports this one.
    return require(join(packageRoot, 'dist', 'validators', `${name}.cjs`)) as ValidateFunction;
  } catch {
    return undefined;
  }
}

/** Tells by which text a validator was made. */
export function schemaMark(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const VARIABLE = String.raw`\$\{`;

/**
 * A part of a schema, and all within, without what is there for editors: places for `${NAME}`,
 * since the program checks values after their variables have been put in, and lists of usual words
 * that anything may stand beside. A file that includes others need not be whole by itself in an
 * editor; the program checks all of them as one.
 */
export function withoutEditorParts(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutEditorParts);
  if (!isRecord(part)) return part;
  const bare = Object.fromEntries(
    Object.entries(withoutCondition(part))
      .filter(([key, value]) => key !== 'anyOf' || !allowsAnything(value))
      .map(([key, value]) => [key, withoutEditorParts(value)]),
  );
  const { pattern, type } = bare;
  if (typeof pattern !== 'string' || !pattern.endsWith(VARIABLE)) return bare;
  if (pattern !== VARIABLE) return { ...bare, pattern: pattern.slice(0, -VARIABLE.length - 1) };
  const types = [type].flat().filter((one) => one !== 'string');
  delete bare['pattern'];
  return { ...bare, type: types.length === 1 ? types[0] : types };
}

/** What an editor demands under a condition, the program demands always. */
function withoutCondition(part: Readonly<Record<string, unknown>>): object {
  const { if: condition, then: demands, ...rest } = part;
  const isForEditors = isRecord(condition) && condition['$comment'] === 'for editors';
  return isForEditors ? { ...rest, ...(demands as object) } : part;
}

/** Whether one of the choices is `{}`. */
function allowsAnything(choices: unknown): boolean {
  return [choices].flat().some((one) => isRecord(one) && Object.keys(one).length === 0);
}
