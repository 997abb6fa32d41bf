import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Ajv2020, AnySchemaObject, Options, ValidateFunction } from 'ajv/dist/2020.js';
import { isRecord } from './objects.js';
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

/**
 * Makes a compiler of schemas. The library is loaded at the first call: a valid file may need none.
 */
export function compilerOf(options: Options): Ajv2020 {
  const { Ajv2020, _, str } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const { useFunc } =
    require('ajv/dist/compile/util.js') as typeof import('ajv/dist/compile/util.js');
  const { default: characters } =
    require('ajv/dist/runtime/ucs2length.js') as typeof import('ajv/dist/runtime/ucs2length.js');
  const compiler = new Ajv2020(options);
  // Lengths are in characters, each of which has one or two units of JavaScript. They are counted
  // only where the units do not decide: counting those of a large file would block other requests.
  const lengths = { maxLength: 'more', minLength: 'fewer' } as const;
  for (const [keyword, word] of Object.entries(lengths)) {
    compiler.removeKeyword(keyword).addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      error: {
        message: ({ schemaCode }) => str`must NOT have ${word} than ${schemaCode} characters`,
        params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
      },
      code: (context) => {
        const { data, schemaCode: limit } = context;
        const units = _`${data}.length`;
        const count = _`${useFunc(context.gen, characters)}(${data})`;
        context.fail(
          keyword === 'maxLength'
            ? _`${units} > ${limit} && (${units} > 2 * ${limit} || ${count} > ${limit})`
            : _`${units} < ${limit} || ${units} < 2 * ${limit} && ${count} < ${limit}`,
        );
      },
    });
  }
  return compiler;
}

/**
 * The kind of data that a validator checks. All schemas ship with the program. A test checks them
 * against the schema of schemas, since that would make each start longer.
 */
export type Checked = 'file' | 'body' | 'form' | 'input' | 'query';

export const VALIDATOR_OPTIONS: Readonly<Record<Checked, Options>> = {
  /**
   * The operator's files: all faults, with their data. The keywords hold texts for faults and for
   * editors.
   */
  file: {
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    validateSchema: false,
    keywords: ['patternErrorMessage', 'enumDescriptions', 'defaultSnippets', 'x-type'],
  },
  /** Bodies of requests. Only the first fault, so that a hostile body makes no long list. */
  body: { discriminator: true, allowUnionTypes: true, validateSchema: false },
  /** Forms and queries of requests. Their values are text, and become the types of the schema. */
  form: { allowUnionTypes: true, coerceTypes: true, validateSchema: false },
  /** JSON bodies and queries of the dashboard and the management API. */
  input: { verbose: true, validateSchema: false },
  query: { verbose: true, coerceTypes: true, validateSchema: false },
};

/** The schema that the program checks an operator's file against, from the shipped text. */
export function fileSchema(text: string): AnySchemaObject {
  return withoutEditorParts(JSON.parse(text)) as AnySchemaObject;
}

interface BuiltValidator extends ValidateFunction {
  /** The names of the schemas that it was built from, and the hash of their texts. */
  parts: readonly string[];
  mark: string;
}

const validators = new Map<string, ValidateFunction>();
const compilers = new Map<Checked, Ajv2020>();

/** The validator of a shipped schema: from the build, or a new one if the build is out of date. */
export function validatorOfShipped(name: string, checked: Checked): ValidateFunction {
  const key = `${checked}/${name}`;
  const validator = validators.get(key) ?? builtValidator(key) ?? newValidator(name, checked);
  validators.set(key, validator);
  return validator;
}

function builtValidator(key: string): ValidateFunction | undefined {
  try {
    // From the build, whichever of its files imports this one.
    const built = require(join(packageRoot, 'dist', 'validators', `${key}.cjs`)) as BuiltValidator;
    return built.mark === schemaMark(built.parts) ? built : undefined;
  } catch {
    return undefined;
  }
}

function newValidator(name: string, checked: Checked): ValidateFunction {
  const compiler = compilers.get(checked) ?? compilerOf(VALIDATOR_OPTIONS[checked]);
  compilers.set(checked, compiler);
  return compileShipped(compiler, name, checked).validator;
}

/** Compiles a schema. `parts` names it and the schemas that it refines. */
export function compileShipped(
  compiler: Ajv2020,
  name: string,
  checked: Checked,
): { validator: ValidateFunction; parts: string[] } {
  const text = shippedSchemaText(name);
  const schema = checked === 'file' ? fileSchema(text) : (JSON.parse(text) as AnySchemaObject);
  const { allOf: refined = [] } = schema as { allOf?: { $ref: string }[] };
  const parts = refined.flatMap(({ $ref }) => compileShipped(compiler, $ref, checked).parts);
  const validator = compiler.getSchema(name) ?? compiler.compile(schema);
  return { validator: validator as ValidateFunction, parts: [...parts, name] };
}

/** A hash of the schemas that a validator is built from. */
export function schemaMark(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const name of parts) hash.update(shippedSchemaText(name));
  return hash.digest('hex');
}

const VARIABLE = String.raw`\$\{`;

/**
 * Removes the parts of a schema that are only for editors: patterns that allow `${NAME}`, since the
 * program checks values after expansion; lists of usual words where any word is allowed; and
 * conditions for files that include others, which the program checks together.
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
  delete bare.pattern;
  return { ...bare, type: types.length === 1 ? types[0] : types };
}

/** What an editor demands under a condition, the program demands always. */
function withoutCondition(part: Readonly<Record<string, unknown>>): object {
  const { if: condition, then: demands, ...rest } = part;
  const isForEditors = isRecord(condition) && condition.$comment === 'for editors';
  return isForEditors ? { ...rest, ...(demands as object) } : part;
}

/** Whether one of the choices is `{}`. */
function allowsAnything(choices: unknown): boolean {
  return [choices].flat().some((one) => isRecord(one) && Object.keys(one).length === 0);
}
